"""tool_trajectory_avg_score: did the agent call the tools it was expected to call?"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field, field_validator

from gradegate.criteria.base.criterion import Entry, RunPart, Turn, TurnCriterion
from gradegate.criteria.base.loosening import option_goes, switched_on
from gradegate.model.evalset import FunctionCall, Invocation
from gradegate.model.notice import Notice, notice
from gradegate.model.result import InvocationResult
from gradegate.ports import Ask, Needs

Calls = Sequence[FunctionCall]
Same = Callable[[FunctionCall, FunctionCall], bool]


class MatchType(StrEnum):
    """How strictly the calls must agree."""

    EXACT = "EXACT"
    IN_ORDER = "IN_ORDER"
    ANY_ORDER = "ANY_ORDER"


STRICTEST_FIRST = tuple(MatchType)


class ToolTrajectory(TurnCriterion):
    """Per turn 1.0 where the tool calls match the expected ones, else 0.0."""

    name: ClassVar[str] = "tool_trajectory_avg_score"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"calls"})
    compares_args: ClassVar[bool] = True
    needs: ClassVar[Needs] = Needs(reference=True)
    summary: ClassVar[str] = "share of turns whose tool calls match the expected ones"
    example: ClassVar[dict[str, Any]] = {"threshold": 1.0, "match_type": "IN_ORDER"}
    no_reference: ClassVar[Notice] = notice("score.no_expected_calls")

    match_type: MatchType = Field(default=MatchType.EXACT, description="EXACT, IN_ORDER, ANY_ORDER")
    ignore_args: bool = False

    @field_validator("match_type", mode="before")
    @classmethod
    def _spelled_in_any_way(cls, value: Any) -> Any:
        # google-adk's own files also carry the enum's number.
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(MatchType):
            return list(MatchType)[value]
        if isinstance(value, str):
            return value.strip().upper().replace("-", "_").replace(" ", "_")
        return value

    @classmethod
    def has_reference(cls, turn: Invocation) -> bool:
        """No expected calls at all is an expectation too, once it is written down."""
        return turn.intermediate_data is not None

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Compare the calls; no judge is asked."""
        del ask
        return self.scored(float(self._match(turn.expected.tool_calls, turn.actual.tool_calls)))

    @classmethod
    def loosened_options(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """A looser match, or arguments that no longer count."""
        was, now = cls.as_far_as_valid(base), cls.as_far_as_valid(head)
        before, after = was.match_type, now.match_type
        if STRICTEST_FIRST.index(after) > STRICTEST_FIRST.index(before):
            yield option_goes("match_type", before, after)
        if now.ignore_args and not was.ignore_args:
            yield switched_on("ignore_args")

    def _match(self, expected: Calls, actual: Calls) -> bool:
        match self.match_type:
            case MatchType.EXACT:
                return len(expected) == len(actual) and all(map(self._same, expected, actual))
            case MatchType.IN_ORDER:
                return is_subsequence(expected, actual, self._same)
            case MatchType.ANY_ORDER:
                return is_submultiset(expected, actual, self._same)

    def _same(self, expected: FunctionCall, actual: FunctionCall) -> bool:
        return expected.name == actual.name and (self.ignore_args or expected.args == actual.args)


def is_subsequence(wanted: Calls, given: Calls, same: Same) -> bool:
    """Whether all wanted calls occur among the given ones in order."""
    rest = iter(given)
    return all(any(same(want, call) for call in rest) for want in wanted)


def is_submultiset(wanted: Calls, given: Calls, same: Same) -> bool:
    """Whether each wanted call has a given call of its own.

    Taking the first that fits is right because a match is an equality: calls that fit the
    same wanted call are interchangeable.
    """
    rest = list(given)
    for want in wanted:
        index = next((i for i, call in enumerate(rest) if same(want, call)), None)
        if index is None:
            return False
        del rest[index]
    return True
