"""Jinja as we use it: sandboxed, strict, and escaping by default in every format.

A template that prints a value gets it escaped for its format, whoever wrote the template;
only our own filters hand out text that is left as it is.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gradegate.locales import NOTHING, Locale, templates_dir
from gradegate.model.errors import FileError, InputError
from gradegate.report import escape
from gradegate.report.links import web_address
from gradegate.report.page.script import MAIN, script

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

Format = Literal["md", "txt", "markup"]
"""What a printed value is made safe for."""

OURS = "gradegate"
"""The folder that our own templates are in, for those who extend one."""


def render_template(
    name: str, values: Mapping[str, object], words: Locale, folder: Path | None = None
) -> str:
    """Our template of this name, or the user's of the same name in `folder`."""
    import jinja2

    if folder is not None and not folder.is_dir():
        raise InputError(f"{folder} is not a folder: name the one your templates are in")
    environment = _environment(_format(name), words, folder, folder and folder.resolve())
    try:
        text = environment.get_template(name).render(values)
    except RecursionError as error:
        message = f"template {name} extends or includes itself by way of others: break the circle"
        raise InputError(message) from error
    except jinja2.TemplateSyntaxError as error:
        raise _wrong(error, folder, name) from error
    except jinja2.TemplateNotFound as error:
        message = f"template {name}: there is no template {error.name!r} to extend or include"
        raise InputError(message) from error
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        place = name if folder is None else folder / name
        message = f"{place}: {error}: see our own {name} for the names a template may use"
        raise InputError(message) from error
    return text.strip("\n") + "\n"


def _wrong(error: Any, folder: Path | None, name: str) -> FileError:
    path = error.filename or (name if folder is None else folder / name)
    return FileError(path, f"not a Jinja template: {error.message}", line=error.lineno)


def _format(name: str) -> Format:
    if ".md." in name:
        return "md"
    return "txt" if ".txt." in name else "markup"


@cache
def _environment(
    format_: Format,
    words: Locale,
    folder: Path | None,
    place: Path | None,  # noqa: ARG001 - what a relative folder means where we are now
) -> "ImmutableSandboxedEnvironment":
    """One for all renders in a language and a format: a template is compiled once."""
    from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """One in which a template that extends its own name means ours of that name."""

        def join_path(self, template: str, parent: str) -> str:
            return f"{OURS}/{template}" if template == parent else template

    ours = FileSystemLoader(templates_dir())
    loaders = [ours] if folder is None else [FileSystemLoader(folder), ours]
    environment = Environment(
        loader=ChoiceLoader([*loaders, PrefixLoader({OURS: ours})]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalizer(format_),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_filters())
    environment.globals.update(t=words, language=words.language, **_marks(words), **_assets())
    return environment


def _finalizer(format_: Format) -> Callable[[Any], Any]:
    from markupsafe import Markup

    def of(make_safe: Callable[[str], str]) -> Callable[[Any], Any]:
        def finalize(value: Any) -> Any:
            return value if hasattr(value, "__html__") else Markup(make_safe(str(value)))  # noqa: S704 - made safe for its format in the same breath

        return finalize

    if format_ == "md":
        return of(escape.markdown)
    if format_ == "txt":
        return of(escape.terminal)
    return lambda value: value if hasattr(value, "__html__") else escape.clean(str(value))


def _filters() -> dict[str, Callable[..., Any]]:
    from markupsafe import Markup

    return {
        "code": lambda text: Markup(f"<code>{escape.code_span(str(text))}</code>"),  # noqa: S704 - escaped inside
        "link": _link,
        "fence": lambda text, language="": Markup(escape.fenced(str(text), language)),  # noqa: S704 - the fence holds it
    }


def _link(text: Any, url: str) -> Any:
    """A Markdown link, where there is an address; the text as it is where there is none."""
    from markupsafe import Markup

    address = web_address(url)
    shown = text if hasattr(text, "__html__") else Markup(escape.markdown(str(text)))  # noqa: S704 - escaped
    return Markup(f"[{shown}]({address})") if address else shown  # noqa: S704 - both are safe


def _marks(words: Locale) -> dict[str, Any]:
    """Punctuation between two printed values; ours, and so nothing to make safe."""
    from markupsafe import Markup

    return {
        "colon": Markup(words("colon")),  # noqa: S704
        "comma": Markup(words("list.comma")),  # noqa: S704
        "nothing": NOTHING,
    }


def _assets() -> dict[str, Callable[[str], Any]]:
    from markupsafe import Markup

    def asset(name: str) -> Any:
        text = (
            script()
            if name == MAIN
            else (templates_dir() / "page" / name).read_text(encoding="utf-8")
        )
        return Markup(text)  # noqa: S704 - our own file

    def digest(name: str) -> str:
        found = hashlib.sha256(asset(name).encode()).digest()
        return f"sha256-{base64.b64encode(found).decode()}"

    return {"asset": asset, "digest": digest}
