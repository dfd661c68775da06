"""A plugin for pytest: at the end of `make test-trust`, the attacks and which of them held.

An attack is a test marked `trust`; the first line of its docstring says what is attempted or what
must hold. It is told once, however many parameters it has, and held if it held with all of them.
"""

from collections.abc import Sequence

import pytest

_ATTACK = "attack"


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Have each report carry what was attempted, also from another process."""
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("trust"):
            first, *_ = (item.function.__doc__ or item.originalname).strip().splitlines()
            item.user_properties.append((_ATTACK, first))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell them, a line each."""
    attacks: dict[tuple[str, str], set[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            test = report.nodeid.partition("[")[0]
            for name, told in report.user_properties:
                if name == _ATTACK:
                    attacks.setdefault((test, told), set()).add(outcome)
    if not attacks:
        return
    terminalreporter.section("attacks")
    for (test, told), outcomes in sorted(attacks.items()):
        terminalreporter.write_line(f"{_word(outcomes):<9} {told}  ({test})")
    words = [_word(outcomes) for outcomes in attacks.values()]
    counted = (f"{words.count(word)} {word}" for word in ("held", "NOT HELD", "not tried"))
    terminalreporter.write_line(", ".join(counted))


def _word(outcomes: set[str]) -> str:
    """What became of an attack; one that was not carried out on this machine is neither."""
    if outcomes & {"failed", "error"}:
        return "NOT HELD"
    return "held" if "passed" in outcomes else "not tried"
