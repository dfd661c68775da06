"""Runs that are finished stay finished: killed at any point, the next job goes on from there.

An agent's failure is a finished run like any other, on both sides: to make failed runs anew until
they succeed would leave base better than it is, and head to blame for the difference. Not kept are
runs that were not made, through no fault of the agent, and those of an agent that failed in all it
was asked: it was not set up, as without a key, and there is nothing to compare by.
"""

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import count

from gradegate.model.evalset import Case
from gradegate.model.masking import SecretMasker
from gradegate.model.runs import NotRun, Role, ScoredRun, Trace
from gradegate.pipeline import durations
from gradegate.ports import AgentRunner, Store

KIND = "trace"
MADE_BY = "made_by"
"""Beside each run, which job made it."""
VERSION = 2
"""Of what a key stands for; a change of it forgets all earlier runs.

2: an agent's failure stays. Before, it was dropped with its job, and trouble with the service of
its model was taken for one.
"""


class Journal:
    """Keeps every finished run by its content, so that it is made once.

    `job` tells two comparisons apart. First passes are shared between jobs, as the same agent
    on the same case; runs made to confirm a suspicion are fresh evidence for one job only.
    """

    def __init__(self, store: Store, job: str, secrets: SecretMasker | None = None) -> None:
        self._store = store
        self.secrets = secrets or SecretMasker()
        """What agents may repeat and nobody is to read."""
        self._job = job
        self._under_way: dict[str, asyncio.Task[Trace | NotRun]] = {}
        self._failed: defaultdict[str, set[str]] = defaultdict(set)
        """The keys of failed runs, by agent."""
        self._able: set[str] = set()
        """Agents that did not fail every time."""
        self.made: dict[str, int] = {}
        """Runs made now, not read from the store, by agent."""

    async def run(
        self, runner: AgentRunner, agent: str, case: Case, run: int, role: Role
    ) -> Trace | NotRun:
        """The run, made now if it was not made before. `agent` is the agent's content."""
        if not runner.rerunnable:
            return self._discreet(await runner.run(case, run))
        key = self._key(agent, case, run, role)
        kept = self._store.get(KIND, key)
        if kept is not None:
            trace = Trace.model_validate_json(kept)
            self._note(agent, key, trace)
            return trace
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.ensure_future(self._make(runner, agent, case, run, key))
            self._under_way[key] = task
        return await asyncio.shield(task)  # the other side may be waiting for it too

    def known(self, agent: str, case: Case) -> int:
        """How many first-pass runs of a case are kept, such as those of a baseline."""
        return sum(1 for _ in self._kept(agent, case))

    def first_passes(self, agent: str, case: Case) -> Iterator[Trace]:
        """The first-pass runs of a case that are kept."""
        return map(Trace.model_validate_json, self._kept(agent, case))

    def _kept(self, agent: str, case: Case) -> Iterator[str]:
        for number in count(1):
            kept = self._store.get(KIND, self._key(agent, case, number, Role.FIRST))
            if kept is None:
                return
            yield kept

    def is_of_another_job(self, agent: str, case: Case, run: int) -> bool:
        """Whether a first-pass run was made by another job than this, at whatever time."""
        made_by = self._store.get(MADE_BY, self._key(agent, case, run, Role.FIRST))
        return made_by is not None and made_by != self._job

    def load(self, agent: str, case: Case, run: ScoredRun) -> None:
        """Take in a run that another machine made for this job, or read from its store."""
        if not isinstance(run.outcome, Trace):
            return
        key = self._key(agent, case, run.result.run, run.role)
        self._note(agent, key, run.outcome)
        self._keep(key, run.outcome, "" if run.of_another_job else self._job)

    async def finish(self) -> None:
        """End what nobody waits for any more, and have the next job try again what never worked."""
        left = list(self._under_way.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for agent in self._failed.keys() - self._able:
            for kind in (KIND, MADE_BY):
                self._store.forget(kind, sorted(self._failed[agent]))

    async def _make(
        self, runner: AgentRunner, agent: str, case: Case, run: int, key: str
    ) -> Trace | NotRun:
        try:
            outcome = await runner.run(case, run)
        finally:
            self._under_way.pop(key, None)
        self.made[agent] = self.made.get(agent, 0) + 1
        outcome = self._discreet(outcome)  # it goes to judges, reports and caches
        if isinstance(outcome, Trace):
            self._note(agent, key, outcome)
            self._keep(key, outcome, self._job)
        return outcome

    def _keep(self, key: str, trace: Trace, job: str) -> None:
        durations.keep(self._store, job, trace)
        self._store.put(MADE_BY, key, job)
        self._store.put(KIND, key, trace.model_dump_json(exclude_defaults=True))

    def _note(self, agent: str, key: str, trace: Trace) -> None:
        if trace.error is None:
            self._able.add(agent)
        else:
            self._failed[agent].add(key)

    def _discreet(self, outcome: Trace | NotRun) -> Trace | NotRun:
        return self.secrets.hide_in(outcome) if isinstance(outcome, Trace) else outcome

    def _key(self, agent: str, case: Case, run: int, role: Role) -> str:
        simulator = case.config.user_simulator_config if case.definition.is_simulated else None
        content = [
            VERSION,
            agent,
            case.suite,
            case.eval_set,
            case.digest,
            simulator and simulator.model_dump(mode="json"),
            role,
            run,
            None if role is Role.FIRST else self._job,
        ]
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
