from pathlib import Path

import pytest

from gradegate.evalsets.discover import discover_suites, find
from gradegate.evalsets.load import load_suite
from gradegate.model.errors import InputError

AGENT = "root_agent = object()\n"


def tree(root: Path, *names: str, text: str = "[]") -> Path:
    """Write files of one text and come back to their root."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.test.json", ["a/b/two.test.json", "a/one.test.json", "top.test.json"]),
        ("a/*.test.json", ["a/one.test.json"]),
        ("a/**", ["a/b/two.test.json", "a/notes.txt", "a/one.test.json"]),
        ("a/**/two.*", ["a/b/two.test.json"]),
        ("**/b/**/*.json", ["a/b/two.test.json"]),
        ("a/o?e.test.json", ["a/one.test.json"]),
        ("a", ["a/b/two.test.json", "a/one.test.json"]),
        (".", ["a/b/two.test.json", "a/one.test.json", "top.test.json"]),
        ("./a/one.test.json", ["a/one.test.json"]),
        (".hidden/*.test.json", [".hidden/h.test.json"]),
        ("a/[odd].test.json", []),
        ("gone.test.json", []),
    ],
)
def test_patterns_find_what_they_say(tmp_path: Path, pattern: str, found: list[str]) -> None:
    """Files, folders and globs; nothing hidden, installed or beside the point."""
    tree(tmp_path, "top.test.json", "a/one.test.json", "a/b/two.test.json", "a/notes.txt")
    tree(tmp_path, "a/test_config.json", "a/x.session.json", ".git/x.test.json")
    tree(tmp_path, "node_modules/m/x.test.json", ".venv/x.test.json", ".hidden/h.test.json")
    tree(tmp_path, "env/pyvenv.cfg", "env/lib/x.test.json")
    assert find(tmp_path, [pattern]) == found


def test_a_file_whose_name_looks_like_a_pattern_is_found(tmp_path: Path) -> None:
    """A name is a name before it is a pattern."""
    assert find(tree(tmp_path, "[x].test.json"), ["[x].test.json"]) == ["[x].test.json"]


@pytest.mark.parametrize("pattern", ["../**/*.json", "/etc/*.json", "a/../../x.test.json"])
def test_patterns_stay_in_the_repository(tmp_path: Path, pattern: str) -> None:
    """A pull request cannot have files read that are not the repository's."""
    with pytest.raises(InputError, match="leads outside the repository"):
        find(tmp_path, [pattern])


def suites_of(root: Path) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """What was discovered, by name."""
    return {s.name: (s.agent, s.evals) for s in discover_suites(root)}


def test_a_set_goes_with_the_nearest_agent_above_it(tmp_path: Path) -> None:
    """Also deep below, and the inner agent wins."""
    tree(tmp_path, "agents/outer/agent.py", "agents/outer/inner/agent.py", text=AGENT)
    tree(tmp_path, "agents/outer/a.evalset.json", "agents/outer/inner/deep/er/b.test.json")
    assert suites_of(tmp_path) == {
        "outer": ("agents/outer", ("agents/outer/a.evalset.json",)),
        "inner": ("agents/outer/inner", ("agents/outer/inner/deep/er/b.test.json",)),
    }


@pytest.mark.parametrize("folder", ["eval", "tests"])
def test_a_set_goes_with_the_agent_beside_its_eval_folder(tmp_path: Path, folder: str) -> None:
    """The layout of most samples: the package, and `eval` or `tests` next to it."""
    tree(tmp_path, "trip/trip_agent/agent.py", text=AGENT)
    tree(tmp_path, f"trip/{folder}/data/x.test.json")
    assert suites_of(tmp_path) == {
        "trip_agent": ("trip/trip_agent", (f"trip/{folder}/data/x.test.json",))
    }


def test_of_several_agents_beside_it_a_set_takes_the_one_it_names(tmp_path: Path) -> None:
    """tests/weather is weather's; what names none of them belongs to none."""
    tree(tmp_path, "weather/agent.py", "news/agent.py", text=AGENT)
    tree(tmp_path, "tests/weather/x.test.json", "tests/any/y.test.json")
    assert suites_of(tmp_path) == {
        "weather": ("weather", ("tests/weather/x.test.json",)),
        "any": (None, ("tests/any/y.test.json",)),
    }


def test_equal_names_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    """Two agents in folders of one name are two suites."""
    tree(tmp_path, "a/bot/agent.py", "b/bot/agent.py", text=AGENT)
    tree(tmp_path, "a/bot/x.test.json", "b/bot/x.test.json")
    assert list(suites_of(tmp_path)) == ["a/bot", "b/bot"]


@pytest.mark.parametrize(
    ("file", "text", "agent"),
    [
        ("agent.py", "root_agent = Agent()", True),
        ("agent.py", "async def get_agent_async():\n    ...", True),
        ("agent.py", "app = App()", True),
        ("agent.py", "from .core import *", True),
        ("agent.py", "helper = Agent()", False),
        ("__init__.py", "from .core import root_agent", True),
        ("__init__.py", '"""The app of ours."""', False),
        ("root_agent.yaml", "name: x", True),
        ("agents.py", "root_agent = Agent()", False),
    ],
)
def test_an_agent_folder_is_known_by_its_text(
    tmp_path: Path, file: str, text: str, *, agent: bool
) -> None:
    """Nothing is imported: the code is a stranger's."""
    tree(tmp_path, f"bot/{file}", text=text)
    tree(tmp_path, "bot/x.test.json")
    (suite,) = discover_suites(tmp_path)
    assert (suite.name, suite.agent) == ("bot", "bot" if agent else None)


def test_an_agent_at_the_top_has_the_same_name_in_every_checkout(tmp_path: Path) -> None:
    """Base and head lie in folders of different names."""
    for side in ("one", "two"):
        tree(tmp_path, f"{side}/agent.py", text=AGENT)
        tree(tmp_path, f"{side}/x.test.json")
        assert suites_of(tmp_path / side) == {"agent": (".", ("x.test.json",))}


def test_what_is_discovered_can_be_loaded(tmp_path: Path) -> None:
    """From nothing but files to cases."""
    tree(tmp_path, "bot/agent.py", text=AGENT)
    tree(tmp_path, "bot/x.test.json", text='[{"query": "hi", "reference": "ho"}]')
    (suite,) = discover_suites(tmp_path)
    assert [c.key for c in load_suite(tmp_path, suite).cases] == [
        ("bot", "bot/x.test.json", "x.test.json")
    ]


def test_the_agent_that_the_eval_folder_is_in_comes_before_its_neighbours(tmp_path: Path) -> None:
    """A sub-agent beside the eval folder is not who the sets are for."""
    tree(tmp_path, "desk/agent.py", "desk/news/agent.py", text=AGENT)
    tree(tmp_path, "desk/evals/a.test.json")
    assert suites_of(tmp_path) == {"desk": ("desk", ("desk/evals/a.test.json",))}
