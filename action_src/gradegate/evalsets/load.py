"""Eval cases from files: all of a suite's sets, each with its config and its lines."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from gradegate.evalsets.config import ConfigFile, fit_findings, read_config
from gradegate.evalsets.config_places import ConfigPlaces
from gradegate.evalsets.dataset import is_dataset, read_dataset
from gradegate.evalsets.dataset_config import is_dataset_config, read_dataset_config, with_rubrics
from gradegate.evalsets.discover import find
from gradegate.evalsets.formats import EVAL_SET_ENDINGS, EvalSetFile, read_eval_set
from gradegate.files.findings import Finding, refuse_errors
from gradegate.files.json_document import Document, parse, read_text, refuse_outside
from gradegate.files.tool_recordings import read_recording
from gradegate.files.yaml_document import parse_config
from gradegate.model.errors import FileError, InputError
from gradegate.model.evalset import Case, DatasetCase, EvalCase
from gradegate.model.notice import notice
from gradegate.model.settings import Suite
from gradegate.model.tool_recording import ToolRecording

_NOT_PART_OF_A_CASE = frozenset({"creation_timestamp", "invocation_id"})
_PROJECT_MARKS = (".git", "pyproject.toml")
_SESSION_ENDING = ".session.json"


@dataclass(frozen=True)
class LoadedSuite:
    """A suite with its cases, sorted by key, and what is doubtful about them."""

    suite: Suite
    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]


def load_suite(root: Path, suite: Suite) -> LoadedSuite:
    """Every case of a suite. The first error of any file is raised as a FileError."""
    patterns = suite.evals or tuple(filter(None, (suite.agent,)))
    files = find(root, patterns)
    if not files:
        sought = ", ".join(f"`{pattern}`" for pattern in patterns) or "no pattern at all"
        message = f"suite `{suite.name}` has no eval sets: {sought} matches no file"
        raise InputError(f"{message}; correct `evals` in gradegate.toml")
    folder = SetFolder(root)
    return _collected(suite, ((folder, file) for file in files), suite.eval_config)


def unused_configs(
    folder: "SetFolder", sets: Collection[str], used: Collection[str | None]
) -> Iterator[Finding]:
    """A warning for each file near the sets that reads like a config and is nobody's."""
    near = list(folder.places.not_used(sets, used))
    elsewhere: set[str | None] = set()
    for name in find(folder.root, (".",)) if near else ():
        with suppress(InputError):  # a broken set of another suite
            elsewhere.add(folder.config_place(name))
    for place in near:
        if place not in elsewhere:
            yield Finding.at(place, (1, 1), "warning", notice("config.not_used"))


def load_cases_of_files(
    root: Path, files: Iterable[str | Path], config: Path | None = None
) -> LoadedSuite:
    """The cases of files and folders named on a command line.

    A folder's sets are called by their path in that folder, a file by its path from `root`
    (or by its name, where it lies elsewhere). `config` stands in for every test_config.json.
    """
    found = [place for given in files for place in _places(root, root / given)]
    config_file = _config_elsewhere(config) if config else None
    return _collected(Suite(), found, config_file)


def read_pair(file: Path, config: Path | None) -> tuple[EvalSetFile, ConfigFile]:
    """One eval set and its config, free of errors."""
    if not file.is_file():
        raise InputError(f"{file} does not exist: name an eval set or a dataset")
    top = _top_above(file.absolute())
    folder, name = SetFolder(top), file.absolute().relative_to(top).as_posix()
    its_config = _config_elsewhere(config) if config else folder.config_for(name)
    eval_set = with_rubrics(folder.eval_set(name), its_config)
    refuse_errors((*eval_set.findings, *its_config.findings))
    return eval_set, its_config


def _top_above(file: Path) -> Path:
    """The project's folder; where nothing marks one, that above the set's folder."""
    marked = (f for f in file.parents if any((f / mark).exists() for mark in _PROJECT_MARKS))
    return next(marked, file.parent.parent)


def _places(root: Path, given: Path) -> Iterator[tuple["SetFolder", str]]:
    if given.is_dir():
        names = find(given, (".",))
        if not names:
            endings = " or ".join(f"*{ending}" for ending in EVAL_SET_ENDINGS)
            raise InputError(f"{given} holds no eval sets: none of its files is called {endings}")
        yield from ((SetFolder(given), name) for name in names)
    elif given.is_file():
        inside = given.absolute().is_relative_to(root.absolute())
        base = root if inside else given.parent
        yield SetFolder(base), given.absolute().relative_to(base.absolute()).as_posix()
    else:
        raise InputError(f"{given} does not exist: name an eval set or a folder of eval sets")


def _config_elsewhere(path: Path) -> ConfigFile:
    return SetFolder(path.parent).config(path.name)


def _collected(
    suite: Suite, places: Iterable[tuple["SetFolder", str]], config: str | ConfigFile | None
) -> LoadedSuite:
    cases: list[Case] = []
    findings: dict[Finding, None] = {}
    for folder, name in places:
        its_config = config if isinstance(config, ConfigFile) else folder.config_for(name, config)
        eval_set = with_rubrics(folder.eval_set(name), its_config)
        remarks = (*eval_set.findings, *its_config.findings, *fit_findings(eval_set, its_config))
        refuse_errors(remarks)
        findings.update(dict.fromkeys(remarks))
        cases.extend(_cases(suite, eval_set, its_config, read_recording(folder.root, name)))
    return LoadedSuite(suite, tuple(sorted(cases, key=lambda c: c.key)), tuple(sorted(findings)))


def _cases(
    suite: Suite, eval_set: EvalSetFile, config: ConfigFile, tools: ToolRecording
) -> Iterator[Case]:
    for placed in eval_set.cases:
        yield Case(
            suite=suite.name,
            eval_set=eval_set.document.path,
            eval_set_id=eval_set.eval_set_id,
            eval_id=placed.definition.eval_id,
            line=placed.line,
            definition=placed.definition,
            config=config.config,
            config_file=config.document.path if config.document else None,
            digest=digest_of(placed.definition, placed.dataset),
            dataset=placed.dataset,
            ignore_args=suite.ignore_args,
            recording=tools.digest_of(placed.definition.eval_id),
        )


class SetFolder:
    """The folder that eval sets are named from: reads sets and configs, and stays inside."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = cache(self._config)
        self.places = ConfigPlaces(root, lambda name: self._parsed_config(name).value)

    def document(self, name: str, *, repair: bool = False) -> Document:
        """A JSON file of this folder, parsed."""
        return parse(name, self.text(name), repair=repair)

    def text(self, name: str) -> str:
        """A file's text; one that a symlink takes out of the folder is refused."""
        refuse_outside(self.root, name)
        if not (self.root / name).is_file():
            raise FileError(name, "is not a file: correct the name")
        return read_text(self.root / name, name)

    def eval_set(self, name: str) -> EvalSetFile:
        """An eval set, together with its initial session where that is a file of its own."""
        document = self.document(name)
        if is_dataset(document.value):
            return read_dataset(document)
        session = self._session_of(name) if isinstance(document.value, list) else None
        return read_eval_set(document, self.document(session) if session else None)

    def config_for(self, name: str, given: str | None = None) -> ConfigFile:
        """The config of a set: the one given for all, the one in its place, or the default."""
        found = given or self.config_place(name)
        return self.config(found) if found else ConfigFile()

    def config_place(self, name: str) -> str | None:
        """The file that a set's config is in."""
        return self.places.config_of(name, lambda: is_dataset(self.document(name).value))

    def is_config(self, name: str) -> bool:
        """Whether a file of that name is a config of ours and not of another tool's."""
        return self.places.is_config(name)

    def _parsed_config(self, name: str) -> Document:
        return parse_config(name, self.text(name), repair=True)

    def _config(self, name: str) -> ConfigFile:
        document = self._parsed_config(name)
        if is_dataset_config(document.value):
            folder = PurePosixPath(name).parent
            return read_dataset_config(document, lambda file: self.text((folder / file).as_posix()))
        return read_config(document)

    def _session_of(self, name: str) -> str | None:
        """The `*.session.json` of the set's own name, or the only one in its folder."""
        path = self.root / name
        sessions = sorted(path.parent.glob(f"*{_SESSION_ENDING}"))
        stems = {path.name.removesuffix(ending) for ending in (*EVAL_SET_ENDINGS, ".json")}
        own = [s for s in sessions if s.name.removesuffix(_SESSION_ENDING) in stems]
        chosen = own or (sessions if len(sessions) == 1 else [])
        return chosen[0].relative_to(self.root).as_posix() if chosen else None


def digest_of(definition: EvalCase, dataset: DatasetCase | None = None) -> str:
    """Equal for equal cases, however they are written down and wherever they lie."""
    content = _canonical(definition) if dataset is None else _canonical((definition, dataset))
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, BaseModel):
        names = type(value).model_fields.keys() - _NOT_PART_OF_A_CASE
        extra = {to_snake(key): entry for key, entry in (value.model_extra or {}).items()}
        return extra | {name: _canonical(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _canonical(entry) for key, entry in value.items()}
    return value
