"""Users' own metrics: `custom_metrics` of an EvalConfig, each a function in the agent's code.

One of google-adk's kind is named; one of google-agents-cli's kind, `evaluate(instance)`, is given
as source. Both are called in the agent's environment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from gradegate.criteria.base.criterion import Entry, entry_fields
from gradegate.criteria.base.instance import instance_of
from gradegate.criteria.base.judged import answer_details
from gradegate.criteria.base.loosening import threshold_goes
from gradegate.criteria.rubric_based import RubricFinalResponse
from gradegate.criteria.tool_trajectory import ToolTrajectory
from gradegate.model.base import AdkValue, Value
from gradegate.model.evalset import Case, EvalConfig, Invocation
from gradegate.model.notice import Notice
from gradegate.model.result import CriterionResult, InvocationResult, RubricScore, Scale, Status
from gradegate.model.runs import Trace
from gradegate.ports import MetricCaller

NO_ENVIRONMENT = (
    "is a function that is called with google-adk, and there is no environment for it here: use "
    "`gradegate run`, with a suite that has `agent`, `python` or `requirements`"
)

OPTIONS_OF = (ToolTrajectory, RubricFinalResponse)
"""Criteria whose options a function may be given too: google-adk hands on the entry as it is."""


class _Interval(AdkValue):
    min_value: float
    max_value: float

    @model_validator(mode="after")
    def _in_order(self) -> "_Interval":
        if self.min_value >= self.max_value:
            message = f"min_value {self.min_value:g} is not below max_value {self.max_value:g}"
            raise ValueError(message)
        return self


class _ValueInfo(AdkValue):
    interval: _Interval | None = None


class _MetricInfo(AdkValue):
    metric_value_info: _ValueInfo = _ValueInfo()


class _CodeConfig(AdkValue):
    name: str = Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)+$")


class CustomConfig(AdkValue):
    """An entry of `custom_metrics`; `lower_is_better` is ours, and google-adk passes it over."""

    code_config: _CodeConfig | None = None
    custom_function: str | None = None
    """Source of a function `evaluate(instance)`, as google-agents-cli has it."""
    range: _Interval | None = None
    metric_info: _MetricInfo | None = None
    description: str = ""
    lower_is_better: bool = False

    @field_validator("range", mode="before")
    @classmethod
    def _as_a_pair(cls, value: Any) -> Any:
        match value:
            case [low, high]:
                return {"min_value": low, "max_value": high}
        return value

    @model_validator(mode="after")
    def _one_function(self) -> "CustomConfig":
        if (self.code_config is None) == (self.custom_function is None):
            message = "needs `code_config` with the function's name, or a `custom_function`"
            raise ValueError(message)
        return self

    @property
    def interval(self) -> _Interval | None:
        """Between which scores it moves, where the entry says so."""
        return self.metric_info.metric_value_info.interval if self.metric_info else self.range


@dataclass(frozen=True)
class CustomMetric:
    """One of them, with the criterion that it is held to."""

    name: str
    criterion: Mapping[str, Any]
    config: CustomConfig

    @property
    def threshold(self) -> float | None:
        """The criterion's, which the function gets to see and goes by as it likes."""
        return _threshold(self.criterion)

    @property
    def scale(self) -> Scale:
        """Between which scores it moves: 0 and 1, where nobody says otherwise."""
        interval = self.config.interval
        low, high = (interval.min_value, interval.max_value) if interval else (0.0, 1.0)
        return Scale(low=low, high=high, lower_is_better=self.config.lower_is_better)

    async def score(self, case: Case, trace: Trace, measure: MetricCaller) -> CriterionResult:
        """Have the function called; what it says is its score, status and all."""
        said = await measure(self._request(case, trace))
        if isinstance(said, str):
            return self.unscored(said)
        try:
            if self.config.custom_function is not None:
                said = self._held_to_threshold(said, len(trace.invocations))
            returned = _Returned.model_validate(said)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            return self.unscored(f"it returned something odd: {first['loc']}: {first['msg']}")
        wrong = self._objection(returned, len(trace.invocations))
        return self.unscored(wrong) if wrong else self._result(returned)

    def unscored(self, reason: str) -> CriterionResult:
        """No score, and why."""
        return CriterionResult(threshold=self.threshold, reason=reason, scale=self.scale)

    def failed(self, reason: str) -> CriterionResult:
        """The agent failed the run, and so all that it is measured by."""
        return self.unscored(reason).model_copy(update={"status": Status.FAILED})

    def _held_to_threshold(self, said: dict[str, Any], turns: int) -> dict[str, Any]:
        """What `evaluate` says is about the run as a whole; it knows no threshold."""
        one = _Explained.model_validate(said)
        worse = one.score > self._bar if self.config.lower_is_better else one.score < self._bar
        status = Status.FAILED if self.threshold is not None and worse else Status.PASSED
        details = answer_details(f"{one.score:g}", one.explanation or "")
        whole = {"score": one.score, "status": status}
        return {**whole, "invocations": [{**whole, "details": details}] * turns}

    @property
    def _bar(self) -> float:
        return self.threshold or 0.0

    def _request(self, case: Case, trace: Trace) -> dict[str, Any]:
        if self.config.custom_function is not None:
            instance = instance_of(case, trace)
            return {"source": self.config.custom_function, "name": self.name, "instance": instance}
        assert self.config.code_config  # noqa: S101 - the one or the other, as validated
        expected = case.definition.conversation
        scenario = case.definition.conversation_scenario
        return {
            "function": self.config.code_config.name,
            "metric": {"metric_name": self.name, "criterion": dict(self.criterion)},
            "actual": [as_adk(turn) for turn in trace.invocations],
            "expected": None if expected is None else [as_adk(turn) for turn in expected],
            "scenario": scenario and scenario.model_dump(mode="json", exclude_none=True),
        }

    def _objection(self, returned: "_Returned", turns: int) -> str | None:
        """Why what was returned cannot be used."""
        if returned.status is Status.INFORMATIONAL:
            return None
        if returned.status is Status.NOT_EVALUATED:
            return "the function says that it did not evaluate it"
        if returned.score is None:
            return f"it returned the status {returned.status} and no score"
        if len(returned.invocations) != turns:
            return f"it returned results for {len(returned.invocations)} of {turns} turns"
        low, high = self.scale.low, self.scale.high
        if self.config.interval and not low <= returned.score <= high:
            return (
                f"it returned the score {returned.score:g}, and its `metric_info` says that it "
                f"goes from {low:g} to {high:g}"
            )
        return None

    def _result(self, returned: "_Returned") -> CriterionResult:
        return CriterionResult(
            score=returned.score,
            threshold=self.threshold,
            status=returned.status,
            invocations=tuple(
                InvocationResult(
                    score=one.score, status=one.status, rubrics=one.rubrics, details=one.details
                )
                for one in returned.invocations
            ),
            rubrics=returned.rubrics,
            scale=self.scale,
        )


class _Explained(AdkValue):
    score: float
    explanation: str | None = None


class _ReturnedTurn(Value):
    score: float | None = None
    status: Status
    rubrics: tuple[RubricScore, ...] = ()
    details: dict[str, Any] = Field(default_factory=dict)


class _Returned(_ReturnedTurn):
    invocations: tuple[_ReturnedTurn, ...] = ()


def custom_metrics_of(config: EvalConfig) -> list[CustomMetric]:
    """Those that the config asks for, in stable order.

    Raises pydantic's ValidationError for an entry that is wrong.
    """
    return [
        CustomMetric(
            name,
            entry_fields(entry),
            CustomConfig.model_validate(config.custom_metrics[name]),
        )
        for name, entry in sorted(config.criteria.items())
        if name in config.custom_metrics
    ]


def loosened(config: Mapping[str, Any], base: Entry, head: Entry) -> Iterator[Notice]:
    """What head's entry asks less of the agent than base's, whose metric is so configured."""
    was, now = _threshold(entry_fields(base)) or 0.0, _threshold(entry_fields(head)) or 0.0
    if (now > was) if _is_better_low(config) else (now < was):
        yield threshold_goes(was, now)
    for criterion in OPTIONS_OF:
        yield from criterion.loosened_options(base, head)


def _is_better_low(config: Mapping[str, Any]) -> bool:
    try:
        return CustomConfig.model_validate(config).lower_is_better
    except ValidationError:
        return False


def _threshold(criterion: Mapping[str, Any]) -> float | None:
    given = criterion.get("threshold")
    return float(given) if isinstance(given, int | float) else None


def as_adk(turn: Invocation) -> dict[str, Any]:
    """A turn as google-adk reads it, which takes one shape of intermediate data or the other."""
    told = turn.model_dump(mode="json", exclude_none=True)
    data = turn.intermediate_data
    if data is not None:
        steps = told["intermediate_data"]
        if data.invocation_events is None:
            steps.pop("invocation_events", None)
        else:
            told["intermediate_data"] = {"invocation_events": steps["invocation_events"]}
    return told
