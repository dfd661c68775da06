"""What a repository may say in `gradegate.toml` (or `[tool.gradegate]` in pyproject.toml)."""

from datetime import date
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from gradegate.locales import languages
from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.gemini_models import DEFAULT_JUDGE
from gradegate.model.report import ReasonKind
from gradegate.model.variables import MODEL_VARIABLES, Variables, own_names


def docstrings_of_fields(cls: type) -> dict[str, str]:
    """The texts by field, from the source of the class itself."""
    import ast
    from inspect import cleandoc, getsource
    from textwrap import dedent

    found = {}
    for field, text in pairwise(ast.parse(dedent(getsource(cls))).body[0].body):  # type: ignore[attr-defined] # a class has one
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(told))),
            ):
                found[name] = cleandoc(told)
    return found


if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

Share = Annotated[float, Field(ge=0, le=1)]
CommentWhen = Literal["always", "changes", "failures", "never"]
GateRule = Literal["exact", "memory"]
Level = Literal["critical", "blocking", "advisory"]
ToolsMode = Literal["live", "recorded", "record"]
ToolsMissing = Literal["error", "live"]


def _known_language(name: str) -> str:
    if name not in languages():
        offered = " or ".join(repr(known) for known in languages())
        raise ValueError(f"must be {offered}, not {name!r}")
    return name


Language = Annotated[
    str, AfterValidator(_known_language), WithJsonSchema({"enum": list(languages())})
]


def _known_network(given: object) -> object:
    listed = isinstance(given, list | tuple) and all(map(_is_port, given))
    if given not in ("open", "none") and not listed:
        raise ValueError(
            f'must be "open", "none" or a list of TCP ports such as [443, 8080], not {given!r}'
        )
    return given


def _is_port(given: object) -> bool:
    return type(given) is int and 0 < given < 1 << 16


Network = Annotated[Literal["open", "none"] | tuple[int, ...], BeforeValidator(_known_network)]

DEFAULT_FAIL_ON = (
    ReasonKind.REGRESSION,
    ReasonKind.NEW_FAILURE,
    ReasonKind.LOOSENED,
    ReasonKind.REMOVED,
    ReasonKind.BUDGET,
    ReasonKind.INCONCLUSIVE,
)


_LONGEST = 255
"""Of a file's name on Linux, in bytes."""


def _without_nul(given: str) -> str:
    if "\0" in given:
        raise ValueError("must not contain the character U+0000")
    return given


def _of_file_names(given: str) -> str:
    if any(len(name.encode(errors="replace")) > _LONGEST for name in given.split("/")):
        raise ValueError(f"must not have a file name of more than {_LONGEST} bytes in it")
    return _without_nul(given)


Word = Annotated[str, AfterValidator(_without_nul)]
Place = Annotated[str, AfterValidator(_of_file_names)]


class Described(Value):
    """A table of the file; what is said under a key is its description in the JSON Schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> dict[str, Any]:
        # `use_attribute_docstrings` would read the source in every job, for a schema in few.
        found = handler(schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for name, text in docstrings_of_fields(cls).items():
            if handler.resolve_ref_schema(properties[name]).get("description") != text:
                properties[name]["description"] = text
        return found


class Suite(Described):
    """One agent with the eval sets it answers to."""

    name: str = ""
    """What reports call it; the agent folder's name where this is left out."""
    agent: Place | None = None
    """The folder of an ADK agent (root_agent, app or get_agent_async)."""
    command: tuple[Word, ...] | None = None
    """A program that speaks the line protocol, in place of `agent`."""
    traces: Place | None = None
    """Recorded runs, in place of an agent; they cannot be run again to confirm a suspicion."""
    evals: tuple[Place, ...] = ()
    """Its eval sets: files, folders or globs; those in the agent's folder where left out."""
    eval_config: Place | None = None
    """One EvalConfig for all sets, in place of the test_config.json beside each."""
    requirements: Place | None = None
    """What the agent needs: a requirements file or the folder of a pyproject.toml, installed
    apart for each side."""
    python: Place | None = None
    """An interpreter that has everything already, in place of `requirements`."""
    paths: tuple[Place, ...] = ()
    """What the agent is made of, in place of the nearest project at or above it with its local
    dependencies: folders and files. It gets to see nothing else of the repository."""
    env: Variables | None = None
    """The variables that the agent's process may see beside PATH and LANG: a list of names, or a
    table of names for the agent and names in the workflow. Where left out, an ADK agent sees those
    that google-genai reads, such as GOOGLE_API_KEY."""
    runs: int = Field(default=1, ge=1, le=1000)
    """First runs of each case and side; suspects get more by themselves."""
    turn_timeout: float = Field(default=120.0, gt=0)
    """Seconds an agent may take over one turn before it has failed the run."""
    case_timeout: float = Field(default=900.0, gt=0)
    """Seconds an agent may take over all turns of a case; a simulated user's do not count."""
    memory_mb: int = Field(default=4096, ge=64, le=1 << 24)
    """MiB that each of the agent's processes may use."""
    network: Network = "open"
    """TCP ports that the agent may connect to and listen on: `open`: all, `none`, or a list. Held
    by Linux 6.7 and newer; hosts, UDP and Unix sockets are not told apart."""
    max_parallel: int = Field(default=16, ge=1)
    """How many of the agent's sessions may be open at once."""
    tools: ToolsMode = "live"
    """`live`: tools are called. `recorded`: calls are answered from the eval set and the recording
    beside it. `record`: tools are called, and what they answer is written there."""
    tools_missing: ToolsMissing = "error"
    """What a call without a recorded answer comes to: an error that the agent sees, or a live
    call."""
    ignore_args: tuple[str, ...] = ()
    """Arguments of tools, as `TOOL.ARGUMENT` with globs, that differ from run to run."""
    fresh: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """A variable that has another value in each run of a case, such as the salt of a cache that
    outlives the agent's process."""

    @property
    def variables(self) -> dict[str, str]:
        """What its processes may see: the name there, and the name in our environment."""
        if self.env is not None:
            return self.env
        return {} if self.command is not None else own_names(*MODEL_VARIABLES)

    @property
    def runs_live(self) -> bool:
        """Whether an agent answers, and not a recording."""
        return self.traces is None and bool(self.agent or self.command)

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


class JudgeSettings(Described):
    """The judge's defaults and limits."""

    model: str = DEFAULT_JUDGE
    """The model that judges where a test_config.json names none."""
    max_parallel: int = Field(default=32, ge=1)
    """Calls under way at once."""
    requests_per_minute: int = Field(default=0, ge=0)
    """Calls a minute, for a known quota. 0: as fast as the service allows."""
    max_calls: int = Field(default=0, ge=0)
    """Calls at most in one run; what is left out is never taken for passed. 0: no limit."""


class CriterionGate(Described):
    """What the gate does differently for one criterion."""

    tolerance: Share | None = None
    """How far this criterion's mean may drop before anyone is told."""
    level: Level | None = None
    """`critical`: decided apart from all others. `advisory`: reported, and never blocks."""


class CaseGate(Described):
    """What the gate does differently for some cases."""

    case: str
    """A glob over eval ids."""
    eval_set: str = "*"
    """A glob over the eval sets' files, as the report names them."""
    level: Level
    """`critical`: decided apart from all others. `advisory`: reported, and never blocks."""

    def is_of(self, key: CaseKey) -> bool:
        """Whether a case is one of them."""
        return fnmatchcase(key.eval_id, self.case) and fnmatchcase(key.eval_set, self.eval_set)


class Gate(Described):
    """What blocks a merge."""

    fail_on: tuple[ReasonKind, ...] = DEFAULT_FAIL_ON
    """What blocks a merge; `threshold` would also block on cases that base fails already."""
    tolerance: Share = 0.02
    """How far a criterion's mean may drop before anyone is told."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.02
    """The risk of blocking a pull request that changed nothing."""
    rule: GateRule = "exact"
    """How a broken case is told from a flaky one. `exact`: by fresh runs of both sides and an exact
    test. `memory`: by what base did in earlier runs as well, and fewer fresh ones."""
    soak: bool = False
    """Whether everything is measured, reported and kept, and nothing blocks yet."""
    warn: bool = True
    """Whether the report names cases that are probably worse and do not block (rule `memory`)."""
    confirm_runs: int = Field(default=16, ge=0)
    """Fresh runs a side, at most, that tell a broken case from a flaky one."""
    time_limit: float = Field(default=60, ge=0)
    """Minutes after which no agent is run any more; what is missing then may make it
    inconclusive. 0: no limit."""
    criteria: dict[str, CriterionGate] = Field(default_factory=dict)
    """Rules of their own for criteria, by name."""
    case: tuple[CaseGate, ...] = ()
    """Rules of their own for cases; of several that name a case the first holds."""
    budget: dict[str, Annotated[str, Field(pattern=r"^(\+\d+(\.\d+)?%?|<= ?\d+(\.\d+)?)$")]] = (
        Field(default_factory=dict)
    )
    """What an efficiency metric may come to: `+20%` or `+500` of base, or `<= 4000`."""

    def tolerance_for(self, criterion: str) -> float:
        """A drop of this criterion's mean that is no larger is ignored."""
        own = self.criteria.get(criterion, CriterionGate()).tolerance
        return self.tolerance if own is None else own

    def level_of(self, criterion: str | None, key: CaseKey | None) -> Level:
        """Whether a finding may block, and with whom it is decided: the case's word goes first."""
        of_case = (one.level for one in self.case if key is not None and one.is_of(key))
        own = self.criteria.get(criterion or "", CriterionGate()).level
        return next(of_case, own or "blocking")

    @property
    def has_critical(self) -> bool:
        """Whether anything is decided apart, so that it has a share of the risk of its own."""
        levels = [one.level for one in self.case]
        return "critical" in (*levels, *(one.level for one in self.criteria.values()))


class Quarantine(Described):
    """A case that is reported and never blocks, until a date."""

    eval_set: str
    """The eval set's file, as the report names it."""
    eval_id: str
    """The case in it."""
    owner: str
    """Who looks after it; the report names them."""
    reason: str
    """Why it may fail, for those who come across it."""
    until: date
    """The day on which it blocks again."""


class ReportSettings(Described):
    """How the report is shown."""

    language: Language = "en"
    """Language of comment, check and page."""
    comment: CommentWhen = "always"
    """When to comment; the check is there in any case."""


class Settings(Described):
    """The whole file."""

    suite: tuple[Suite, ...] = ()
    """Agents with their eval sets; found by the repository's layout where left out."""
    judge: JudgeSettings = JudgeSettings()
    """The judge's defaults and limits."""
    gate: Gate = Gate()
    """What blocks a merge."""
    quarantine: tuple[Quarantine, ...] = ()
    """Cases that are reported and never block, until a date."""
    report: ReportSettings = ReportSettings()
    """How the report is shown."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [suite.name for suite in self.suite]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            message = f"two suites are called {twice[0]!r}: give each its own `name`"
            raise ValueError(message)
        return self
