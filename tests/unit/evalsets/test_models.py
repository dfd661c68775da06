from gradegate.evalsets.models import shut_down_models


def test_only_values_count_as_naming_a_model() -> None:
    """Not prose, not comments, and each model once a file."""
    text = """# model = "gemini-2.5-pro"
MODEL = "models/gemini-2.5-flash"
agent = Agent(model='gemini-2.0-flash-001', instruction="not gemini-2.5-pro any more")
other = "gemini-2.5-flash"
same = "gemini-2.5-flash-lite"
"""
    found = [str(finding) for finding in shut_down_models("agent.py", text)]
    assert found == [
        (
            "agent.py:2:17: warning: `gemini-2.5-flash` has the shutdown date 2026-12-01 (Vertex "
            "AI: 2026-10-16): use `gemini-3.5-flash-lite` instead (Google's list of 2026-11-10)"
        ),
        (
            "agent.py:3:22: warning: `gemini-2.0-flash-001` has the shutdown date 2026-06-01: use "
            "`gemini-3.5-flash-lite` instead (Google's list of 2026-11-10)"
        ),
    ]


def test_yaml_needs_no_quotes() -> None:
    """As in a root_agent.yaml."""
    (found,) = shut_down_models("root_agent.yaml", "name: a\nmodel: gemini-2.5-pro\n")
    assert (found.line, found.column) == (2, 8)
