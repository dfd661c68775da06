"""Trees, names and files that a pull request brings to break out, hang or speak for us."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.project import (
    AGENT,
    SETTINGS,
    WEATHER,
    Outcome,
    Project,
    case,
    eval_set,
    expected,
    scripted,
    turn,
)
from tests.standins.github import GitHubStandIn
from tests.workflow_step import Change, pull_request

pytestmark = pytest.mark.trust

CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case("rome", turn("And in Rome?", "It rains in Rome today.")),
]
SECRET_CASE = case("hunter2", turn("What is in the vault?", "Nothing."))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A branch on which the agent answers as expected."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    return project


def refused(done: Outcome, why: str) -> None:
    """Exit 2 and one message, no bug of ours."""
    assert (done.code, "internal error" in done.stderr) == (2, False), done.stderr[-2000:]
    assert why in done.stderr


def outside(folder: Path) -> Path:
    """A project somewhere else on the machine, which nobody was to see."""
    place = folder / "elsewhere"
    (place / "evals").mkdir(parents=True)
    (place / "evals" / "secret-plans.evalset.json").write_text(eval_set(SECRET_CASE))
    (place / "gradegate.toml").write_text(SETTINGS)
    (place / "agent.py").write_text(AGENT)
    (place / "answers.json").write_text('{"default": {"text": "?"}, "cases": {}}')
    return place


@pytest.mark.parametrize("head", ["HEAD", "worktree"])
def test_a_working_directory_does_not_lead_out_of_the_repository(
    project: Project, tmp_path: Path, head: str
) -> None:
    """The workflow's working directory becomes a link to another folder of the machine."""
    (project.root / "services").symlink_to(outside(tmp_path))
    project.commit()
    done = project.evaluate("--head", head, "--working-directory", "services", "--base", "none")
    refused(done, "'services' is a link that leads outside the repository")
    assert not done.folder.exists() or not list(done.folder.iterdir())


def test_a_working_directory_may_be_a_link_within_the_repository(project: Project) -> None:
    """The control: the same, but of the repository's own."""
    project.put("apps/desk/gradegate.toml", SETTINGS)
    project.put("apps/desk/agent.py", AGENT)
    project.put("apps/desk/answers.json", json.dumps({"default": {"text": "?"}, "cases": {}}))
    project.put("apps/desk/evals/basic.evalset.json", eval_set(*CASES))
    (project.root / "services").symlink_to("apps/desk")
    done = project.evaluate("--working-directory", "services", "--base", "none")
    assert done.code == 1
    assert len(done.report["cases"]) == 2


@pytest.mark.parametrize("pattern", ["vault", "vault/**/*.json", "vault/evals/*"])
def test_a_pattern_does_not_list_a_folder_behind_a_link(
    project: Project, tmp_path: Path, pattern: str
) -> None:
    """Neither what is in files of the machine nor what they are called is told."""
    (project.root / "vault").symlink_to(outside(tmp_path))
    project.put("gradegate.toml", SETTINGS.replace('"evals/*', f'"{pattern}", "evals/*'))
    done = project.evaluate()
    refused(done, "leads outside the repository")
    assert "secret-plans" not in done.stderr + done.stdout
    assert "hunter2" not in done.stderr + done.stdout


def test_a_pattern_is_matched_in_one_go(project: Project) -> None:
    """Twenty times `**` against a file sixty folders deep: thousands of years, were each tried."""
    project.put(f"{'a/' * 60}c.evalset.json", eval_set(CASES[0]))
    project.put("gradegate.toml", SETTINGS.replace("evals/*.evalset.json", f"{'**/a/' * 20}b"))
    refused(project.evaluate(), "matches no file")
    fitting = f'"{"**/a/" * 20}**", "evals/*'
    project.put("gradegate.toml", SETTINGS.replace('"evals/*', fitting))
    done = project.evaluate("--base", "none")
    assert [one["eval_set"] for one in done.report["cases"]].count(
        f"{'a/' * 60}c.evalset.json"
    ) == 1, done.stderr


DEEP = {
    "gradegate.toml": f"{SETTINGS}\nx = {'[' * 100_000}",
    "gradegate.toml, dotted": f"{SETTINGS}\n{'a.' * 50_000}a = 1",
    "gradegate.toml, inline": f"{SETTINGS}\nx = {{{'a.' * 2_000}a = 1}}",
    "gradegate.toml, tables": f"{SETTINGS}\n[{'a.' * 50_000}a]",
    "evals/basic.evalset.json": "[" * 200_000,
    "evals/test_config.json": '{"criteria":' * 100_000,
    "evals/test_config.json, closed": f'{{"x": {"[" * 900}{"]" * 900}}}',
}


@pytest.mark.parametrize("file", DEEP)
def test_what_is_nested_without_end_is_refused(project: Project, file: str) -> None:
    """A hundred thousand brackets, or tables in tables by one dotted key."""
    project.put(file.partition(",")[0], DEEP[file])
    refused(project.evaluate(), "nested too deeply to be read")


@pytest.mark.parametrize("file", ["gradegate.toml", "evals/test_config.json"])
def test_what_is_nested_as_people_do_is_read(project: Project, file: str) -> None:
    """The control: an unknown key ten levels deep is what the message is about."""
    deep = f"{'[' * 10}{']' * 10}"
    text = (
        f"{SETTINGS}\nx = {deep}" if file.endswith("toml") else f'{{"criteria": {{"x": {deep}}}}}'
    )
    project.put(file, text)
    refused(project.evaluate(), "x")
    assert "nested" not in project.evaluate().stderr


UNREADABLE = {
    "a number without end": (f"{SETTINGS}runs = {'1' * 5000}", "too long to be read"),
    "runs without end": (f"{SETTINGS}runs = {'1' * 18}", "less than or equal to 1000"),
    "a name with a NUL": (f'{SETTINGS}eval_config = "a\\u0000b"', "U+0000"),
    "a program with a NUL": (SETTINGS.replace("agent.py", "a\\u0000b"), "U+0000"),
    "a name without end": (SETTINGS.replace("evals/*", "a" * 300), "more than 255 bytes"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_settings_that_no_system_can_use_are_refused(project: Project, what: str) -> None:
    """Numbers of thousands of digits, names that no file can have, a billion runs."""
    text, why = UNREADABLE[what]
    project.put("gradegate.toml", text)
    refused(project.evaluate(), why)
    refused(project.evaluate("--base", "none"), why)


NEEDS = {
    "a number without end": f"x = {'1' * 5000}",
    "brackets without end": f"x = {'[' * 100_000}",
    "tables without end": f"{'a.' * 20_000}a = 1",
    "no tables": "tool = 3\nproject = 4",
    "a version without end": f"[tool.poetry.dependencies]\nx = '^{'1' * 5000}'",
    "a python without end": f"[tool.poetry.dependencies]\npython = '^{'1' * 5000}'",
    "a path that is none": "[tool.poetry.dependencies]\nx = {path = 'a\\u0000b'}",
    "no table of uv's": "[tool]\nuv = 3\n[project]\nname = 'x'\ndynamic = 3",
}


@pytest.mark.parametrize("what", NEEDS)
def test_needs_that_nobody_can_read_are_for_uv_to_refuse(project: Project, what: str) -> None:
    """A pyproject.toml that is nested without end, or has no tables where tables belong."""
    settings = SETTINGS.replace('command = ["python3", "agent.py"]', 'agent = "."')
    project.put("gradegate.toml", settings)
    project.put("pyproject.toml", NEEDS[what])
    done = project.evaluate("--base", "none")
    assert (done.code, "internal error" in done.stderr) == (3, False), done.stderr[-2000:]


NAME = "evals/a\n::error::pwned\n::set-output name=decision::pass.evalset.json"


def test_a_file_name_is_no_workflow_command(tmp_path: Path, github: GitHubStandIn) -> None:
    """A file called like commands of the runner, which is told of because it is broken."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put(NAME, "{")
    change = Change(project, github, tmp_path / "runner")
    event = pull_request(change.head, change.base)
    for words in ((), ("--debug",)):
        done = change.runner.run("pull_request", event, None, words)
        assert done.returncode == 2
        assert "set-output" in done.stderr, "it is told of"
        log = f"{done.stdout}\n{done.stderr}".splitlines()
        commands = [line for line in log if line.lstrip().startswith("::")]
        assert all(line.startswith("::add-mask::") for line in commands), commands
    checked = project.gradegate("check")
    assert "set-output" in checked.stdout
    assert not [line for line in checked.stdout.splitlines() if line.lstrip().startswith("::")]


def test_a_name_that_is_no_text_is_refused(project: Project) -> None:
    """Bytes that are not UTF-8, which no report can show."""
    place = os.fsencode(project.root / "evals") + b"/\xff\xfe.evalset.json"
    with open(place, "w", encoding="utf-8") as file:  # noqa: PTH123 - a path of bytes
        file.write(eval_set(CASES[0]))
    refused(project.evaluate(), "its name is not UTF-8: rename the file")


def test_equal_looking_cases_are_different_cases(project: Project) -> None:
    """One letter written in two ways: neither stands in for the other, and a broken one is seen."""
    one, two = "caf\u00e9", "cafe\u0301"
    both = [case(name, turn("Is it open?", "It is open today.")) for name in (one, two)]
    project.git("switch", "-q", "main")
    project.put("evals/basic.evalset.json", eval_set(*both))
    project.answers({name: expected(both[0]) for name in (one, two)})
    project.commit()
    project.git("switch", "-qC", "change")
    assert project.evaluate().code == 0
    project.answers({one: expected(both[0]), two: [{"text": "No idea."}]})
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"regression"})
    assert {reason["eval_id"] for reason in done.report["decision"]["reasons"]} == {two}


def tree(project: Project, *entries: str) -> str:
    """A tree object, as somebody may push it who has no git but a hex editor."""
    text = "\0".join((*project.git("ls-tree", "HEAD").splitlines(), *entries)) + "\0"
    done = subprocess.run(
        ["git", "mktree", "-z"], cwd=project.root, input=text, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.strip()


def blob(project: Project, text: str) -> str:
    """A blob object."""
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=project.root, input=text,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.mark.parametrize("first", ["link", "folder"])
def test_a_tree_with_a_link_and_a_folder_of_one_name_writes_nowhere_else(
    project: Project, tmp_path: Path, first: str
) -> None:
    """Written as root, one file after the other: through the link, were it followed."""
    victim = tmp_path / "victim"
    victim.mkdir()
    inner = tree_of(project, "f")
    entries = {
        "link": f"120000 blob {blob(project, str(victim))}\tzz",
        "folder": f"040000 tree {inner}\tzz",
    }
    order = [first, *(name for name in entries if name != first)]
    made = tree(project, *(entries[name] for name in order))
    commit = project.git("commit-tree", made, "-p", "HEAD", "-m", "x")
    done = project.evaluate("--head", commit)
    assert done.code in (0, 2), done.stderr
    assert list(victim.iterdir()) == []


def tree_of(project: Project, name: str) -> str:
    """A tree with one file."""
    done = subprocess.run(
        ["git", "mktree"], cwd=project.root, input=f"100644 blob {blob(project, 'x')}\t{name}\n",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["..", ".", ".git"])
@pytest.mark.parametrize("kind", ["040000 tree", "160000 commit"])
def test_a_tree_that_climbs_out_is_refused(project: Project, name: str, kind: str) -> None:
    """Folders and submodules called `..`, which git's own commands would never write."""
    of = project.git("rev-parse", "HEAD") if "commit" in kind else tree_of(project, "f")
    made = tree(project, f"{kind} {of}\t{name}")
    commit = project.git("commit-tree", made, "-p", "HEAD", "-m", "x")
    refused(project.evaluate("--head", commit), "invalid path")
    plain = tree(project, f"040000 tree {tree_of(project, 'f')}\tplain")
    control = project.git("commit-tree", plain, "-p", "HEAD", "-m", "x")
    assert project.evaluate("--head", control).code == 0


def test_a_submodule_behind_a_link_is_left_empty(project: Project, tmp_path: Path) -> None:
    """The name of a submodule leads to another repository of the machine."""
    other = Project.create(tmp_path / "other")
    other.put("vault.txt", "hunter2")
    sha = other.commit()
    project.git("update-index", "--add", "--cacheinfo", f"160000,{sha},vendor")
    looks = AGENT.replace(
        '{"text": said["text"]}', '{"text": str(os.path.exists("vendor/vault.txt"))}'
    )
    project.put("agent.py", looks)
    project.git("add", "agent.py")
    project.git("commit", "-qm", "submodule")
    (project.root / "vendor").symlink_to(other.root)
    linked = project.evaluate("--head", "HEAD", "--base", "none")
    assert "submodule vendor is not checked out" in linked.warnings
    assert '"False"' in json.dumps(linked.report)
    (project.root / "vendor").unlink()
    other.root.rename(project.root / "vendor")
    found = project.evaluate("--head", "HEAD", "--base", "none")
    assert '"True"' in json.dumps(found.report)
