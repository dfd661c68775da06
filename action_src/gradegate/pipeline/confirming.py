"""The second matrix: what the job that merges wants to be run, made by several jobs for it.

They make a part each and decide nothing. The job that decides finds their runs in its journal, and
takes of them exactly those that it would have made itself; what is missing it makes.
"""

import json
from functools import partial
from math import ceil

from gradegate.compare.next_runs import wanted_of_part, wanted_runs
from gradegate.judge.cache import ANSWER
from gradegate.model.overrides import Shard
from gradegate.model.shard import ShardFile
from gradegate.pipeline import durations
from gradegate.pipeline.evaluate import terms_of
from gradegate.pipeline.prepare import EvaluationRequest, prepare
from gradegate.pipeline.records import read_history
from gradegate.pipeline.services import Services, open_runner
from gradegate.pipeline.shards import ShardOutcome, cut, origin_of, read_shards

NO_MATRIX = "[]"
WORTH_A_JOB = 20
"""Runs wanted next that a job of its own is started for; to confirm takes several times as many."""


async def runs_wanted(request: EvaluationRequest, services: Services) -> int:
    """How many runs the merge wants next; none where shards are missing, or nothing changed."""
    with prepare(request) as prepared:
        shards = read_shards(request.shards, prepared)
        if prepared.nothing_changed or shards.troubles:
            return 0
        async with open_runner(prepared, services) as runner:
            shards.load_into(runner, services.store)
            terms = terms_of(prepared, runner, services.today)
            history = read_history(prepared, runner, services.history)
            wanted = wanted_runs(terms, runner.runs, history)
    return sum(one.total - len(runner.runs.of(*one[:3])) for one in wanted)


def matrix_for(runs: int, most: int) -> str:
    """The shards of a second matrix as a workflow reads them; empty where it is not worth it."""
    jobs = min(ceil(runs / WORTH_A_JOB), most)
    if jobs < 2:  # noqa: PLR2004 - one is the job that asks
        return NO_MATRIX
    return json.dumps([f"{number}/{jobs}" for number in range(1, jobs + 1)])


async def run_confirming(
    request: EvaluationRequest, services: Services, shard: Shard
) -> ShardOutcome:
    """Make one part of what the merge wants, and what is likely to be wanted after it."""
    with prepare(request) as prepared:
        nothing = ShardFile(shard=shard, origin=origin_of(prepared), confirms=True)
        shards = read_shards(request.shards, prepared)
        if prepared.nothing_changed or shards.troubles:
            return ShardOutcome(nothing, {})
        async with open_runner(prepared, services) as runner:
            shards.load_into(runner, services.store)
            loaded = {(one.side, one.result.key, one.result.run) for one in runner.made()}
            terms = terms_of(prepared, runner, services.today)
            history = read_history(prepared, runner, services.history)
            begin = wanted_runs(terms, runner.runs, history)
            cases = sorted({one.case for one in begin})
            seconds = durations.known(services.store, prepared.job, cases)
            part = frozenset(cut(cases, shard.total, seconds)[shard.number - 1])
            wanted = partial(wanted_of_part, terms, begin, part, shard.total, history=history)
            await runner.make_wanted(wanted)
    file = nothing.model_copy(
        update={
            "cases": tuple(sorted(part)),
            "runs": tuple(
                one
                for one in runner.made()
                if (one.side, one.result.key, one.result.run) not in loaded
            ),
            "answers": {
                key: answer
                for key, answer in services.store.news(ANSWER).items()
                if all(key not in other.answers for other in shards.files)
            },
            "ran": tuple(side for side in runner.sides if runner.was_run(side)),
            "usage": runner.usage,
            "notices": tuple(runner.warnings),
        }
    )
    return ShardOutcome(file, {}).masked(runner.secrets)
