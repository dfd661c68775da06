"""What a repository may say in `gradegate.toml` (or `[tool.gradegate]` in pyproject.toml)."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gradegate.model.base import Value
from gradegate.model.report import ReasonKind

Share = Annotated[float, Field(ge=0, le=1)]
CommentWhen = Literal["always", "changes", "failures", "never"]
Language = Literal["en", "ja"]

DEFAULT_FAIL_ON = (
    ReasonKind.REGRESSION,
    ReasonKind.NEW_FAILURE,
    ReasonKind.LOOSENED,
    ReasonKind.REMOVED,
    ReasonKind.BUDGET,
    ReasonKind.INCONCLUSIVE,
)


class Suite(Value):
    """One agent with the eval sets it answers to."""

    name: str = ""
    agent: str | None = None
    command: tuple[str, ...] | None = None
    traces: str | None = None
    evals: tuple[str, ...] = ()
    eval_config: str | None = None
    requirements: str | None = None
    python: str | None = None
    env: tuple[str, ...] = ()
    runs: int = Field(default=1, ge=1)
    turn_timeout: float = Field(default=120.0, gt=0)
    """Seconds an agent may take over one turn before it has failed the run."""
    case_timeout: float = Field(default=900.0, gt=0)
    """Seconds an agent may take over all turns of a case; a simulated user's do not count."""
    memory_mb: int = Field(default=4096, ge=64)
    """MiB that each of the agent's processes may use."""
    max_parallel: int = Field(default=16, ge=1)
    """How many of the agent's sessions may be open at once."""

    @model_validator(mode="after")
    def _one_kind_of_agent(self) -> Self:
        given = [kind for kind in ("agent", "command", "traces") if getattr(self, kind)]
        if len(given) > 1 and given != ["agent", "traces"]:
            message = f"write only one of {' and '.join(f'`{kind}`' for kind in given)}"
            raise ValueError(message)
        if self.command is not None and not self.command:
            message = "`command` needs at least the program's name"
            raise ValueError(message)
        return self


class Judge(Value):
    """The judge's defaults and limits."""

    model: str = "gemini-2.5-flash"
    max_parallel: int = Field(default=32, ge=1)
    requests_per_minute: int = Field(default=0, ge=0)
    max_calls: int = Field(default=0, ge=0)


class CriterionGate(Value):
    """What the gate does differently for one criterion."""

    tolerance: Share | None = None


class Gate(Value):
    """What blocks a merge."""

    fail_on: tuple[ReasonKind, ...] = DEFAULT_FAIL_ON
    tolerance: Share = 0.02
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.02
    confirm_runs: int = Field(default=16, ge=0)
    time_limit: float = Field(default=0, ge=0)
    """Minutes after which no agent is run any more; what is missing then may make it
    inconclusive. 0: no limit."""
    criteria: dict[str, CriterionGate] = Field(default_factory=dict)
    budget: dict[str, Annotated[str, Field(pattern=r"^(\+\d+(\.\d+)?%?|<= ?\d+(\.\d+)?)$")]] = (
        Field(default_factory=dict)
    )

    def tolerance_for(self, criterion: str) -> float:
        """How large a drop of this criterion's mean is nobody's business."""
        own = self.criteria.get(criterion, CriterionGate()).tolerance
        return self.tolerance if own is None else own


class Quarantine(Value):
    """A case that is reported and never blocks, until a date."""

    eval_set: str
    eval_id: str
    owner: str
    reason: str
    until: date


class ReportSettings(Value):
    """How the report is shown."""

    language: Language = "en"
    comment: CommentWhen = "always"


class Settings(Value):
    """The whole file."""

    suite: tuple[Suite, ...] = ()
    judge: Judge = Judge()
    gate: Gate = Gate()
    quarantine: tuple[Quarantine, ...] = ()
    report: ReportSettings = ReportSettings()

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [suite.name for suite in self.suite]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            message = f"two suites are called {twice[0]!r}: give each its own `name`"
            raise ValueError(message)
        return self
