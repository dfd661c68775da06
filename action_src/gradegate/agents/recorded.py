"""An agent's recorded runs, played back."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import PurePosixPath
from typing import Any, Self

from gradegate.criteria.custom import NO_ENVIRONMENT
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import NotRun, Side, Trace, Traces
from gradegate.model.settings import Suite
from gradegate.ports import AgentRunner, Ask, MetricCaller

Runs = Mapping[int, Trace]


class RecordedAgent:
    """Answers from a traces file; `source` is the file's name, for messages."""

    rerunnable = False

    def __init__(self, traces: Traces, suite: str, source: str) -> None:
        self._source = source
        self._runs = _by_case((t for t in traces.cases if t.suite in ("", suite)), source)

    def runs_of(self, case: Case, asked: int = 1) -> int:
        """As many as were recorded: all of them count, a lost one in between too."""
        del asked
        return max(self._recorded(case), default=1)

    def refuse_strangers(self, cases: Iterable[Case]) -> None:
        """Raise an InputError for a recorded run whose case none of these is."""
        known = {
            (_tidy(name), case.eval_id)
            for case in cases
            for name in (case.eval_set, case.eval_set_id)
        }
        for eval_set, eval_id in self._runs:
            if (eval_set, eval_id) not in known:
                raise InputError(
                    f"{self._source} holds a trace of case {eval_id!r} of {eval_set}, and there "
                    "is no such case: correct `eval_set` and `eval_id`, or record it again"
                )

    async def prepare(self) -> Notice | None:
        """Nothing to make ready."""
        return None

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """The recorded run, under the case's own names."""
        runs = self._recorded(case)
        if run in runs:
            return runs[run].model_copy(update={"suite": case.suite, "eval_set": case.eval_set})
        wanted = {"file": self._source, "case": case.eval_id, "eval_set": case.eval_set}
        if not runs:
            return NotRun.because(notice("recorded.no_trace", **wanted))
        have = ", ".join(str(number) for number in sorted(runs))
        return NotRun.because(notice("recorded.no_run", run=run, have=have, **wanted))

    def _recorded(self, case: Case) -> Runs:
        """By the eval set's path where the recording has it, else by the set's id."""
        by_path = self._runs.get((_tidy(case.eval_set), case.eval_id))
        return by_path or self._runs.get((_tidy(case.eval_set_id), case.eval_id), {})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class RecordedAgents:
    """Every suite's agent is one recording; there is nothing to keep apart."""

    def __init__(self, traces: Traces, source: str) -> None:
        self._traces = traces
        self._source = source

    def runner_for(
        self, suite: Suite, side: Side, ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """The recording, which may hold none but these cases."""
        del side, ask
        agent = RecordedAgent(self._traces, suite.name, self._source)
        agent.refuse_strangers(cases or ())
        return agent

    def metrics_for(self, suite: Suite, side: Side) -> AbstractAsyncContextManager[MetricCaller]:
        """There is no agent's environment to call them in."""
        del suite, side
        return nullcontext(_no_environment)

    def environment_of(self, suite: Suite, side: Side) -> Notice | None:
        """A recording needs none."""
        del suite, side
        return None

    def isolation(self) -> Sequence[Notice]:
        """Nothing is run."""
        return ()

    def warnings(self) -> Sequence[Notice]:
        """None."""
        return ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


async def _no_environment(request: dict[str, Any]) -> dict[str, Any] | str:
    del request
    return NO_ENVIRONMENT


def _by_case(traces: Iterable[Trace], source: str) -> Mapping[tuple[str, str], Runs]:
    runs: dict[tuple[str, str], dict[int, Trace]] = defaultdict(dict)
    for trace in traces:
        recorded = runs[_tidy(trace.eval_set), trace.eval_id]
        if trace.run in recorded:
            raise InputError(
                f"{source}: run {trace.run} of case {trace.eval_id!r} in {trace.eval_set} is "
                "recorded twice: number the runs of a case 1, 2, 3…"
            )
        recorded[trace.run] = trace
    return dict(runs)


def _tidy(eval_set: str) -> str:
    return str(PurePosixPath(eval_set))
