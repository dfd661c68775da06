"""What the pull request touches of its agents, and in how many cases it was used."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gradegate.model.evalset import Case, CaseKey, Invocation
from gradegate.model.report import Touched
from gradegate.model.runs import SideRuns, Trace
from gradegate.model.settings import Suite
from gradegate.pipeline.prepare import Prepared
from gradegate.sides.definitions import Definition, python_files, touched_definitions

Parts = Mapping[str, Sequence[Definition]]
"""What was touched, by suite."""


def touched_parts(prepared: Prepared) -> Parts:
    """What of each suite's agent differs between the sides; before an agent may write there."""
    if prepared.base is None:
        return {}
    base = {suite.name: suite for suite in prepared.base.suites}
    found = {}
    for suite in prepared.head.suites:
        if suite.name not in base or suite.traces is not None:
            continue
        before = _texts(prepared.base.side.root, base[suite.name])
        after = _texts(prepared.head.side.root, suite)
        cases = [case for case in prepared.head.cases if case.suite == suite.name]
        found[suite.name] = touched_definitions(before, after, _expected_tools(cases))
    return found


def touched(parts: Parts, head: SideRuns) -> tuple[Touched, ...]:
    """The same, each with the cases of head that used it."""
    return tuple(
        Touched(
            suite=suite,
            kind=one.kind,
            name=one.name,
            path=one.path,
            line=one.first,
            cases=sum(_used(one, used) for used in cases),
            total=len(cases),
        )
        for suite, definitions in parts.items()
        if (cases := list(_cases(suite, head)))
        for one in definitions
    )


def _texts(root: Path, suite: Suite) -> Mapping[str, str]:
    """The agent's folder; of a program, which may lie anywhere, the project's."""
    return python_files(root, root / suite.agent if suite.agent else root)


def _expected_tools(cases: Sequence[Case]) -> set[str]:
    return {
        call.name for case in cases for turn in case.definition.turns for call in turn.tool_calls
        if call.name
    }  # fmt: skip


def _cases(suite: str, head: SideRuns) -> Iterator[tuple[set[str], set[str]]]:
    """Of each case that was run, the tools that were called and the agents that spoke."""
    for key, runs in head.items():
        turns = [turn for run in runs for turn in _turns(key, suite, run.outcome)]
        if turns:
            called = {call.name or "" for turn in turns for call in turn.tool_calls}
            yield called, {name for turn in turns for name in _speakers(turn)}


def _turns(key: CaseKey, suite: str, outcome: object) -> Sequence[Invocation]:
    return outcome.invocations if key.suite == suite and isinstance(outcome, Trace) else ()


def _speakers(turn: Invocation) -> Iterator[str]:
    data = turn.intermediate_data
    for event in (data and data.invocation_events) or ():
        yield event.author
    if turn.app_details is not None:
        yield from turn.app_details.agent_details


def _used(one: Definition, used: tuple[set[str], set[str]]) -> bool:
    called, spoke = used
    return one.name in (called if one.kind == "tool" else spoke)
