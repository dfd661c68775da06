"""Our templates and a user's, compiled once and up to date all the same."""

import os
from cProfile import Profile
from pathlib import Path

import pytest

from gradegate.model.report import Report
from gradegate.report.render import FORMATS, render

SOURCE = Path(__file__).parents[2] / "golden" / "fail" / "report.json"
REPORT = Report.model_validate_json(SOURCE.read_text(encoding="utf-8"))


def compiled(*formats: str, folder: Path) -> int:
    """How many templates were compiled to render these."""
    with Profile() as profile:
        for format_ in formats:
            render(REPORT, format_, template_dir=folder)
    codes = [(each.code, each.callcount) for each in profile.getstats()]
    return sum(
        calls
        for code, calls in codes
        if not isinstance(code, str)
        and code.co_name == "compile"
        and Path(code.co_filename).parts[-2:] == ("jinja2", "environment.py")
    )


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    """However many views are made of it: those for Markdown share two."""
    assert compiled("comment", folder=tmp_path) == 3
    assert compiled("summary", "check", folder=tmp_path) == 3
    assert compiled(*FORMATS, folder=tmp_path) == 4  # page, its parts, junit, text
    assert compiled(*FORMATS, *FORMATS, folder=tmp_path) == 0


def test_a_template_that_changes_is_compiled_again(tmp_path: Path) -> None:
    """A user at work on one sees what it says now, also in a file that it extends."""
    write(tmp_path / "text.txt.j2", '{% extends "mine.txt.j2" %}', age=3)
    write(tmp_path / "mine.txt.j2", "first", age=3)
    assert shown(tmp_path) == "first\n"
    write(tmp_path / "mine.txt.j2", "second", age=2)
    assert shown(tmp_path) == "second\n"
    write(tmp_path / "text.txt.j2", "third", age=1)
    assert shown(tmp_path) == "third\n"


def test_a_relative_folder_is_the_one_below_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same name elsewhere is another folder."""
    for where in ("here", "there"):
        write(tmp_path / where / "own" / "text.txt.j2", where, age=1)
    for where in ("here", "there", "here"):
        monkeypatch.chdir(tmp_path / where)
        assert shown(Path("own")) == f"{where}\n"


def test_languages_and_formats_are_kept_apart(tmp_path: Path) -> None:
    """Each has its own words and its own way to make a value safe, whatever came before."""
    for name in ("text.txt.j2", "page.html.j2", "check_text.md.j2"):
        write(tmp_path / name, "{{ language }} {{ language ~ '<*>' }} {{ t('list.and') }}", age=1)
    told = {
        (format_, language): render(REPORT, format_, language=language, template_dir=tmp_path)
        for format_ in ("text", "html", "check")
        for language in ("en", "ja", "en")
    }
    assert told["text", "en"] == "en en<*>  and \n"
    assert told["html", "ja"].startswith("ja ja&lt;*&gt; ")
    assert told["check", "en"].endswith("en en&#60;&#42;&#62;  and \n")
    assert len(set(told.values())) == len(told)


def shown(folder: Path) -> str:
    """The view as text."""
    return render(REPORT, "text", template_dir=folder)


def write(path: Path, text: str, *, age: int) -> None:
    """A file of a certain age in days: what was written later is younger on any file system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    when = path.stat().st_mtime - age * 86_400
    os.utime(path, (when, when))
