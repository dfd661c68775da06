"""YAML that knows the line and column of each of its values, as `json_document` has it for JSON."""

import math
from pathlib import PurePosixPath
from typing import Any

from gradegate.files.json_document import Children, Document, parse
from gradegate.model.errors import FileError

YAML_ENDINGS = (".yaml", ".yml")
_DEEPEST = 100
_TAG = "tag:yaml.org,2002:"
_CONSTRUCTED = frozenset(("null", "bool", "int", "float"))
_TEXTS = frozenset(("str", "timestamp"))


def parse_config(label: str, text: str, *, repair: bool = False) -> Document:
    """A file as its ending says: YAML, or JSON."""
    if PurePosixPath(label).suffix in YAML_ENDINGS:
        return parse_yaml(label, text)
    return parse(label, text, repair=repair)


def parse_yaml(label: str, text: str) -> Document:
    """Parse YAML that JSON could say as well; anchors are refused, which can grow without end."""
    import yaml

    try:
        for token in yaml.scan(text, yaml.SafeLoader):
            if isinstance(token, yaml.AnchorToken | yaml.AliasToken):
                raise _error(label, token.start_mark, "anchors are not read: write the value out")
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _error(label, mark, f"is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise FileError(label, f"is not YAML: {error}", line=1) from error
    document = _YamlDocument(label, text, None)
    if root is not None:
        document.read(root)
    return document


class _YamlDocument(Document):
    """A document whose places come from YAML's own parser."""

    def read(self, root: Any) -> None:
        """Take over the value and all places."""
        self._root = root.start_mark.index
        self.value = self._value(root, 0)

    @property
    def _start(self) -> int:
        return self._root

    _root = 0

    def _children_of(self, offset: int) -> Children:
        return self._children.get(offset, {})

    def _value(self, node: Any, depth: int) -> Any:
        import yaml

        if depth > _DEEPEST:
            raise _error(self.path, node.start_mark, "nested too deeply to be read")
        if isinstance(node, yaml.SequenceNode):
            return self._members(node, dict(enumerate(node.value)), depth, list)
        if isinstance(node, yaml.MappingNode):
            return self._members(node, dict(self._pairs(node)), depth, dict)
        return self._scalar(node)

    def _scalar(self, node: Any) -> Any:
        """A date, which JSON has not, is the text that is written."""
        import yaml

        kind = node.tag.removeprefix(_TAG)
        if kind in _TEXTS:
            return node.value
        if kind not in _CONSTRUCTED:
            raise _error(self.path, node.start_mark, f"the tag {node.tag} is not read: take it out")
        try:
            value = yaml.SafeLoader("").construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise _error(self.path, node.start_mark, f"is not YAML: {error}") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise _error(self.path, node.start_mark, "not a number that JSON has: write another")
        return value

    def _members(self, node: Any, members: dict[Any, Any], depth: int, kind: type) -> Any:
        self._children[node.start_mark.index] = {
            key: child.start_mark.index for key, child in members.items()
        }
        values = {key: self._value(child, depth + 1) for key, child in members.items()}
        return values if kind is dict else list(values.values())

    def _pairs(self, node: Any) -> list[tuple[str, Any]]:
        import yaml

        pairs: list[tuple[str, Any]] = []
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _error(self.path, key.start_mark, "a key must be a text")
            if key.value in dict(pairs):
                raise _error(self.path, key.start_mark, f"the key `{key.value}` is written twice")
            pairs.append((key.value, child))
        return pairs


def _error(label: str, mark: Any, message: str) -> FileError:
    if mark is None:
        return FileError(label, message, line=1)
    return FileError(label, message, line=mark.line + 1, column=mark.column + 1)
