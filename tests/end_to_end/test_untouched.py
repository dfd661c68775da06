"""What a pull request changes and no case comes by is told, in every view."""

import json
from pathlib import Path

from tests.project import case, scripted, turn

TOOLS = "def get_weather(city):\n    return 'sunny'\n\n\ndef refund(order):\n    return order\n"
WEATHER = {"name": "get_weather", "args": {"city": "Paris"}}
REFUND = {"name": "refund", "args": {"order": 7}}
CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case("rome", turn("Weather in Rome?", "It is sunny in Rome today.", WEATHER)),
    case("money", turn("My money back?", "You get it back.", REFUND)),
]


def test_a_changed_tool_that_no_case_calls_is_told(tmp_path: Path) -> None:
    """A green check over cases that never come near an edit says little."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-q", "main")
    project.put("tools.py", TOOLS)
    table = json.loads((project.root / "answers.json").read_text())
    table["cases"]["money"] = {"text": "You get it back.", "tools": []}
    project.put("answers.json", json.dumps(table))
    project.commit()
    project.git("switch", "-qc", "edit")
    project.put("tools.py", TOOLS.replace("return order", "return -order").replace("sun", "rain"))
    done = project.gradegate("run", "--out", "../report")
    assert done.returncode == 0, done.stdout + done.stderr
    folder = project.root.parent / "report"
    report = json.loads((folder / "report.json").read_text())
    assert [
        (one["name"], one["line"], one["cases"], one["total"]) for one in report["touched"]
    ] == [
        ("get_weather", 1, 2, 3),
        ("refund", 5, 0, 3),
    ]
    said = "Changed here, and used by no case: tool refund."
    assert said in done.stdout.replace("\n", " ")
    assert said in (folder / "comment.md").read_text()
    assert (
        "| tool <code>get_weather</code> | tools.py:1 | 2/3 |"
        in (folder / "summary.md").read_text()
    )
