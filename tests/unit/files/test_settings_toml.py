from datetime import date
from pathlib import Path

import pytest

from gradegate.files.settings_toml import parse_settings, place_of, read_settings
from gradegate.model.errors import FileError
from gradegate.model.report import ReasonKind
from gradegate.model.settings import Settings

FULL = """[[suite]]
name = "weather"
agent = "agents/weather"
evals = ["agents/weather/**/*.evalset.json"]
env = ["GOOGLE_API_KEY"]
runs = 2

[[suite]]
agent = "agents/news"

[judge]
model = "gemini-2.5-flash"
max_calls = 10

[gate]
fail_on = ["regression", "threshold"]
tolerance = 0.03
[gate.criteria.response_match_score]
tolerance = 0.05
[gate.budget]
token_usage_v1 = "+20%"

[[quarantine]]
eval_set = "a.evalset.json"
eval_id = "paris"
owner = "@team"
reason = "slow"
until = 2026-12-31

[report]
language = "ja"
"""


def test_the_whole_file_is_read() -> None:
    """Every table, and an agent's name for a suite that has none."""
    settings = parse_settings("gradegate.toml", FULL)
    assert [suite.name for suite in settings.suite] == ["weather", "news"]
    assert settings.gate.fail_on == (ReasonKind.REGRESSION, ReasonKind.THRESHOLD)
    assert settings.gate.tolerance_for("response_match_score") == 0.05
    assert settings.quarantine[0].until == date(2026, 12, 31)
    assert settings.report.language == "ja"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gate]\ntolerence = 1", r"f\.toml:2:1: unknown key `gate\.tolerence`: .* `tolerance`"),
        ("[gates]\nx = 1", r"f\.toml:1:1: unknown key `gates`: did you mean `gate`"),
        ('[[suite]]\n[[suite]]\nevls = ["x"]', r":3:1: unknown key `suite\[1\]\.evls`.*`evals`"),
        ("[gate.criteria.x]\ntolerances = 1", r":2:1: unknown key .* `tolerance`"),
        ('[report]\ncomment = "often"', r":2:1: `report\.comment` must be 'always', 'changes'"),
        ('[gate]\nfail_on = ["regressions"]', r":2:1: `gate\.fail_on\[0\]` must be 'regression'"),
        ("[gate]\nalpha = 2", r":2:1: `gate\.alpha` 2: input should be less than 1"),
        ('[judge]\nmax_calls = "many"', r":2:1: `judge\.max_calls` must be a whole number"),
        ('[[quarantine]]\neval_id = "x"', r":1:1: `quarantine\[0\]\.eval_set` is missing"),
        ('[[suite]]\nagent = "a"\ncommand = ["x"]', r":1:1: `suite\[0\]` write only one of"),
        ('[[suite]]\nagent = "a/b"\n[[suite]]\nagent = "c/b"', r":1:1: two suites are called 'b'"),
        ("[gate\n", r"f\.toml:1:6: not valid TOML"),
        ("[gate]\nalpha = ", r"f\.toml:2:\d+: not valid TOML"),
        ('[[suite]]\nname = "x"\nagent = "../y"', r":3:1: `suite\[0\]\.agent` leads outside"),
        ('[[suite]]\nname = "x"\ntraces = "/etc/y"', r":3:1: .*traces` leads outside"),
    ],
)
def test_a_mistake_is_named_at_its_line(text: str, says: str) -> None:
    """Line, field, and what to write instead."""
    with pytest.raises(FileError, match=says):
        parse_settings("f.toml", text)


def test_settings_come_from_either_file(tmp_path: Path) -> None:
    """Ours first, then pyproject's table; none at all is no mistake."""
    assert read_settings(tmp_path) is None
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert read_settings(tmp_path) is None
    pyproject.write_text("[tool.gradegate.gate]\ntolerance = 0.5\n", encoding="utf-8")
    read = read_settings(tmp_path)
    assert read is not None
    assert read.gate.tolerance == 0.5
    (tmp_path / "gradegate.toml").write_text("", encoding="utf-8")
    assert read_settings(tmp_path) == Settings()


def test_a_mistake_in_pyproject_is_named_there() -> None:
    """The table's prefix is part of the place."""
    text = "[project]\nname = 'x'\n[tool.gradegate.gate]\nalfa = 1\n"
    with pytest.raises(FileError, match=r"pyproject\.toml:4:1: .*tool\.gradegate\.gate\.alfa"):
        parse_settings("pyproject.toml", text)


def test_another_file_can_be_named(tmp_path: Path) -> None:
    """It must be there, though."""
    (tmp_path / "other.toml").write_text("[gate]\ntolerance = 0.25\n", encoding="utf-8")
    read = read_settings(tmp_path, "other.toml")
    assert read is not None
    assert read.gate.tolerance == 0.25
    with pytest.raises(FileError, match=r"gone\.toml: there is no such file"):
        read_settings(tmp_path, "gone.toml")


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (("suite", 1, "agent"), (9, 1)),
        (("gate", "criteria", "response_match_score", "tolerance"), (19, 1)),
        (("quarantine", 0, "until"), (28, 1)),
        (("report", "nothing"), (30, 1)),
        (("nothing",), (1, 1)),
    ],
)
def test_keys_are_found_in_toml(keys: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """A key, or the table it should be in."""
    assert place_of(FULL, keys) == place


def test_text_of_many_lines_does_not_pass_for_keys() -> None:
    """What looks like a table inside a long text is text."""
    text = 'a = """\n[gate]\nalpha = 1\n"""\n[gate]\n  "alpha" = 2\nx.y = 3\n'
    assert place_of(text, ("gate", "alpha")) == (6, 3)
    assert place_of(text, ("gate", "x", "y")) == (7, 1)
