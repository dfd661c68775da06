"""What an agent's environment is made of, and when two of them are one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gradegate.agents.requirements import Kind, Recipe, find_recipe
from gradegate.model.notice import Notice

PROJECT = "[project]\nname = 'x'\nversion = '1'\n"
TOOLS = "[tool.ruff]\nline-length = 99\n"
LOCK = "version = 1\n[[package]]\nname = 'x'\nsource = { virtual = '.' }\n"
BESIDE = LOCK + "[[package]]\nname = 'lib'\nsource = { editable = '../lib' }\n"


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write files by their paths, and come back to their root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def recipe(root: Path, named: str | None = None) -> Recipe:
    """The recipe for the agent at a/bot."""
    found = find_recipe(root, root / "a" / "bot", named)
    assert isinstance(found, Recipe), found
    return found


@pytest.mark.parametrize(
    ("files", "kind", "folder"),
    [
        ({}, Kind.NOTHING, "."),
        ({"requirements.txt": ""}, Kind.REQUIREMENTS, "."),
        ({"requirements.txt": "", "a/requirements.txt": ""}, Kind.REQUIREMENTS, "a"),
        ({"a/bot/requirements.txt": "", "pyproject.toml": PROJECT}, Kind.REQUIREMENTS, "a/bot"),
        ({"pyproject.toml": PROJECT}, Kind.PROJECT, "."),
        ({"a/pyproject.toml": TOOLS, "requirements.txt": ""}, Kind.REQUIREMENTS, "."),
        ({"a/pyproject.toml": TOOLS}, Kind.NOTHING, "."),
        ({"pyproject.toml": PROJECT, "requirements.txt": ""}, Kind.REQUIREMENTS, "."),
        ({"pyproject.toml": PROJECT, "uv.lock": LOCK, "requirements.txt": ""}, Kind.LOCKED, "."),
        ({"pyproject.toml": PROJECT, "poetry.lock": "", "requirements.txt": ""}, Kind.PROJECT, "."),
        (
            {"pyproject.toml": TOOLS, "uv.lock": LOCK, "a/pyproject.toml": PROJECT},
            Kind.PROJECT,
            "a",
        ),
        ({"pyproject.toml": TOOLS, "uv.lock": LOCK, "poetry.lock": ""}, Kind.NOTHING, "."),
        ({"pyproject.toml": "broken =\n"}, Kind.PROJECT, "."),
    ],
)
def test_the_nearest_needs_are_found(
    tmp_path: Path, files: dict[str, str], kind: Kind, folder: str
) -> None:
    """From the agent's folder up to the side's root, and no further."""
    write(tmp_path, {"requirements.txt": "outside"})
    root = write(tmp_path / "side", {"a/bot/agent.py": "", **files})
    found = recipe(root)
    assert (found.kind, found.folder) == (kind, root / folder)


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("a/needs.txt", Kind.REQUIREMENTS),
        ("project", Kind.LOCKED),
        ("project/pyproject.toml", Kind.LOCKED),
        ("project/uv.lock", Kind.LOCKED),
    ],
)
def test_what_the_suite_names_comes_first(tmp_path: Path, named: str, kind: Kind) -> None:
    """A file, or a project's folder."""
    files = {"project/pyproject.toml": PROJECT, "project/uv.lock": LOCK, "a/needs.txt": ""}
    assert recipe(write(tmp_path, {"requirements.txt": "", **files}), named).kind == kind


@pytest.mark.parametrize("named", ["gone.txt", "empty", "../outside.txt"])
def test_what_the_suite_names_wrongly_is_said(tmp_path: Path, named: str) -> None:
    """The message names it."""
    write(tmp_path, {"outside.txt": "", "side/empty/x": ""})
    found = find_recipe(tmp_path / "side", tmp_path / "side" / "empty", named)
    assert isinstance(found, Notice)
    assert named in found.text


BASE = {
    "requirements.txt": "-r more.txt\n-e ./lib\ngoogle-adk\n",
    "more.txt": "--constraint=pins.txt\n",
    "pins.txt": "x==1\n",
    "lib/setup.py": "1",
    "a/bot/agent.py": "1",
}


@pytest.mark.parametrize("changed", ["requirements.txt", "more.txt", "pins.txt", "lib/setup.py"])
def test_another_content_is_another_environment(tmp_path: Path, changed: str) -> None:
    """Of the file, of what it includes, and of what it installs from beside it."""
    root = write(tmp_path, BASE)
    before = recipe(root).key("3.13")
    assert recipe(root).key("3.13") == before
    write(root, {changed: BASE[changed] + "\n# else\n"})
    assert recipe(root).key("3.13") != before


def test_the_agents_own_files_do_not_matter(tmp_path: Path) -> None:
    """Nor where the side lies: base and head share what they both need."""
    plain = {"requirements.txt": "google-adk\nhttpx @ https://example.com/x.whl\n"}
    base = recipe(write(tmp_path / "base", {**plain, "a/bot/agent.py": "1"}))
    head = recipe(write(tmp_path / "head", {**plain, "a/bot/agent.py": "2"}))
    assert base.key("3.13") == head.key("3.13") != base.key("3.12")


@pytest.mark.parametrize(("lock", "matters"), [(LOCK, False), (BESIDE, True)])
def test_a_locked_project_is_its_lock(tmp_path: Path, lock: str, *, matters: bool) -> None:
    """Unless it locks packages that are nothing but folders."""
    root = write(tmp_path, {"pyproject.toml": PROJECT, "uv.lock": lock, "x.py": "1"})
    before = recipe(root).key("3.13")
    write(root, {"x.py": "2"})
    assert (recipe(root).key("3.13") != before) is matters
    write(root, {"x.py": "1", "uv.lock": lock + "\n# else\n"})
    assert recipe(root).key("3.13") != before


def test_a_projects_modules_are_importable(tmp_path: Path) -> None:
    """It is not installed, so that its files may change without a new environment."""
    root = write(tmp_path, {"pyproject.toml": PROJECT, "src/x.py": ""})
    assert recipe(root).import_from == (root / "src", root)


SHARED = {"requirements.txt": "google-adk\n", "a/bot/agent.py": "1", "x.py": "1"}
LEADS = {
    "uv.toml": {"uv.toml": 'find-links = ["wheels"]\n', "wheels/x.whl": "1"},
    "tool.uv": {"pyproject.toml": '[tool.uv]\nfind-links = ["wheels"]\n', "wheels/x.whl": "1"},
    "workspace": {"pyproject.toml": '[tool.uv.workspace]\nmembers = ["x*"]\n'},
    "a plain path": {"requirements.txt": "vendor/adk\n", "vendor/adk/setup.py": "1"},
    "a named path": {"requirements.txt": "adk @ file:vendor/adk\n", "vendor/adk/setup.py": "1"},
    "find-links": {"requirements.txt": "--find-links wheels\nx\n", "wheels/x.whl": "1"},
    "a constraint elsewhere": {"requirements.txt": "-c ../outside.txt\n"},
    "a variable": {"requirements.txt": "adk @ ${HERE}/x\n"},
    "git here": {"requirements.txt": "adk @ git+file:///srv/adk\n"},
    "code that tells": {
        "requirements.txt": "",
        "a/pyproject.toml": PROJECT + "dynamic = ['dependencies']\n",
    },
}


@pytest.mark.parametrize("files", LEADS.values(), ids=LEADS)
def test_where_uv_may_read_any_file_all_files_count(tmp_path: Path, files: dict[str, str]) -> None:
    """A file that uv is led to makes another environment, and so does any other of the side."""
    root = write(tmp_path / "side", {**SHARED, **files})
    assert recipe(root).files() == {
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()
    }
    before = recipe(root).key("3.13")
    write(root, {"x.py": "2"})
    assert recipe(root).key("3.13") != before


@pytest.mark.parametrize("name", ["uv.toml", ".python-version", "a/uv.toml", "pyproject.toml"])
def test_what_uv_reads_by_itself_is_in_the_key(tmp_path: Path, name: str) -> None:
    """Settings beside the needs and above them, up to the side's top; nothing else is shown."""
    root = write(tmp_path / "side", {**SHARED, "a/requirements.txt": "idna\n"})
    assert recipe(root).files() == {"a/requirements.txt"}
    before = recipe(root).key("3.13")
    write(root, {name: "" if name.endswith("toml") else "3.13\n"})
    assert recipe(root).files() == {"a/requirements.txt", name}
    assert recipe(root).key("3.13") != before


def test_a_link_in_place_of_the_needs_shows_the_whole_side(tmp_path: Path) -> None:
    """Where it leads is only known to who follows it."""
    root = write(tmp_path / "side", {"x.py": "", "all.txt": "idna\n"})
    (root / "requirements.txt").symlink_to("all.txt")
    assert recipe(root).files() == {"x.py", "all.txt", "requirements.txt"}


@pytest.mark.parametrize(
    "line", ["google-adk ~= 2.13 # see ./x.py", "# x.py", "idna==3.10; python_version < '4'"]
)
def test_plain_needs_show_nothing_but_themselves(tmp_path: Path, line: str) -> None:
    """So that base and head share what they both need."""
    root = write(tmp_path / "side", {**SHARED, "requirements.txt": f"{line}\n"})
    assert recipe(root).files() == {"requirements.txt"}
