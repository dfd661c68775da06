"""One evaluation over several machines: the cases cut into parts, the parts' files made one."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from gradegate import __version__, locales
from gradegate.files.shard_json import read_shard_file
from gradegate.judge.cache import ANSWER
from gradegate.model.errors import InputError
from gradegate.model.evalset import CaseKey
from gradegate.model.masking import SecretMasker
from gradegate.model.notice import Notice, notice
from gradegate.model.overrides import Shard
from gradegate.model.result import CriterionUsage, Results, Usage
from gradegate.model.runs import SideName
from gradegate.model.shard import Origin, ShardFile, SideOfShard
from gradegate.pipeline.case_runner import CaseRunner
from gradegate.pipeline.prepare import Prepared, PreparedSide
from gradegate.ports import Store
from gradegate.report.render import writable

_NAMED = 3


def cut(
    cases: Sequence[CaseKey], total: int, seconds: Mapping[CaseKey, float]
) -> tuple[tuple[CaseKey, ...], ...]:
    """The cases in so many parts that take about as long, the same on every machine.

    The longest first, each to the part that has least; by turns where no duration is known.
    """
    if not seconds:
        return tuple(tuple(cases[number::total]) for number in range(total))
    usual = fmean(seconds.values())
    loads = [(0.0, number) for number in range(total)]
    part_of: dict[CaseKey, int] = {}
    for case in sorted(cases, key=lambda one: (-seconds.get(one, usual), one)):
        load, number = heapq.heappop(loads)
        part_of[case] = number
        heapq.heappush(loads, (load + seconds.get(case, usual), number))
    parts: list[list[CaseKey]] = [[] for _ in range(total)]
    for case in cases:
        parts[part_of[case]].append(case)
    return tuple(map(tuple, parts))


def origin_of(prepared: Prepared) -> Origin:
    """What the shards of this evaluation are parts of."""
    return Origin(
        head=_side(prepared.head),
        base=_side(prepared.base) if prepared.base else None,
        configuration=prepared.configuration,
        version=__version__,
    )


def _side(side: PreparedSide) -> SideOfShard:
    return SideOfShard(commit=side.side.commit, fingerprint=side.fingerprint)


@dataclass(frozen=True)
class ShardOutcome:
    """What one shard hands on."""

    file: ShardFile
    results: Mapping[SideName, Results]

    def masked(self, masker: SecretMasker) -> "ShardOutcome":
        """The same without the secrets that an agent or a judge may have repeated."""
        results = {side: masker.hide_in(one) for side, one in self.results.items()}
        return ShardOutcome(masker.hide_in(self.file), results)


def nothing_to_run(whole: Prepared, shard: Shard) -> ShardOutcome:
    """There are more shards than cases, or nothing is to be run at all."""
    sides: dict[SideName, PreparedSide | None] = {"head": whole.head, "base": whole.base}
    results = {
        name: Results(
            commit=one.side.commit,
            fingerprint=one.fingerprint,
            shard=str(shard),
            configuration=whole.configuration,
        )
        for name, one in sides.items()
        if one is not None
    }
    return ShardOutcome(ShardFile(shard=shard, origin=origin_of(whole)), results)


def write_shard(folder: Path, outcome: ShardOutcome) -> Path:
    """The shard's file, and the results of its cases; where the file is."""
    file = writable(folder) / outcome.file.name
    file.write_text(
        outcome.file.model_dump_json() + "\n", encoding="utf-8", errors="backslashreplace"
    )
    for side, one in outcome.results.items():
        text = one.model_dump_json(indent=2) + "\n"
        (folder / f"{side}.results.json").write_text(
            text, encoding="utf-8", errors="backslashreplace"
        )
    return file


def shard_done(outcome: ShardOutcome) -> str:
    """What a shard did, in a line."""
    file = outcome.file
    cases, runs = locales.some(len(file.cases), "case"), locales.some(len(file.runs), "run")
    what = "confirming shard" if file.confirms else "shard"
    return f"{what} {file.shard} done: {cases}, {runs}; the merge of all shards decides"


@dataclass(frozen=True)
class ShardSet:
    """What shards have done already; empty where there are none."""

    files: tuple[ShardFile, ...] = ()
    """Those that belong here, by their numbers."""
    confirming: tuple[ShardFile, ...] = ()
    """Those of a second matrix: what is missing of them is made here."""
    troubles: tuple[Notice, ...] = ()
    """Why they are not all the parts of this evaluation, each once."""

    def load_into(self, runner: CaseRunner, store: Store) -> None:
        """Have their runs and judges' answers, as if they had been made here."""
        for file in self.files:
            for key, answer in file.answers.items():
                store.put(ANSWER, key, answer)
            runner.load(file.runs, file.ran)
        for file in self.confirming:
            for key, answer in file.answers.items():
                store.put(ANSWER, key, answer)
            runner.keep(file.runs, file.ran)

    def add_costs_to(self, runner: CaseRunner) -> None:
        """What was run elsewhere was paid for too, and may have to be told of."""
        if not self.files:
            return
        files = (*self.files, *self.confirming)
        runner.usage = added_up([*(file.usage for file in files), runner.usage])
        told = [*runner.warnings, *(one for file in files for one in file.notices)]
        runner.warnings = tuple({one.text: one for one in told}.values())


def read_shards(folder: Path | None, prepared: Prepared) -> ShardSet:
    """The shards' files in a folder and those below it; nothing where none is named."""
    if folder is None:
        return ShardSet()
    found: list[tuple[str, ShardFile]] = []
    unreadable = []
    paths = [path for kind in ("shard", "confirm") for path in folder.rglob(f"{kind}-*.json")]
    for path in sorted(paths):
        try:
            found.append((path.relative_to(folder).as_posix(), read_shard_file(path)))
        except InputError as error:
            unreadable.append(notice("shards.unreadable", error=error))
    found.sort(key=lambda one: (one[1].shard.total, one[1].shard.number, one[0]))
    ours = origin_of(prepared)
    strangers = [told for name, file in found for told in _strange(name, file, ours)]
    ours_too = [one for one in found if one[1].origin == ours]
    known = [one for one in ours_too if not one[1].confirms]
    confirming = tuple(file for _, file in ours_too if file.confirms)
    cases = [pair.key for pair in prepared.pairs if pair.head]
    cut_troubles = list(_incomplete([file for _, file in known])) or list(_miscut(known, cases))
    files = {file.shard.number: file for _, file in known}
    troubles = (*unreadable, *strangers, *cut_troubles)
    return ShardSet(tuple(files.values()), confirming, troubles)


def _strange(name: str, file: ShardFile, ours: Origin) -> Iterator[Notice]:
    """What makes it a part of something else."""
    theirs = file.origin
    if theirs == ours:
        return
    shard = str(file.shard)
    sides = [(theirs.head, ours.head), (theirs.base, ours.base)]
    for their, our in sides:
        if (their and their.commit) != (our and our.commit):
            commits = [one.commit[:7] if one else "none" for one in (their, our)]
            yield notice(
                "shards.commit", shard=shard, file=name, theirs=commits[0], ours=commits[1]
            )
            return
    if theirs.version != ours.version:
        yield notice(
            "shards.version", shard=shard, file=name, theirs=theirs.version, ours=ours.version
        )
        return
    yield notice("shards.configuration", shard=shard, file=name)


def _incomplete(files: Sequence[ShardFile]) -> Iterator[Notice]:
    """Each part has to be there, once."""
    totals = sorted({file.shard.total for file in files})
    if len(totals) > 1:
        yield notice("shards.totals", totals=", ".join(map(str, totals)))
        return
    if not totals:
        yield notice("shards.none")
        return
    there = Counter(file.shard.number for file in files)
    for number in range(1, totals[0] + 1):
        if there[number] != 1:
            shard = str(Shard(number=number, total=totals[0]))
            yield notice("shards.doubled" if there[number] else "shards.missing", shard=shard)


def _miscut(files: Iterable[tuple[str, ShardFile]], cases: Iterable[CaseKey]) -> Iterator[Notice]:
    """Each case has to be in one part: the parts are cut by durations, which may differ."""
    places: defaultdict[CaseKey, list[str]] = defaultdict(list)
    for _, file in files:
        for key in file.cases:
            places[key].append(str(file.shard))
    wrong = [(key, places[key]) for key in cases if len(places[key]) != 1]
    for key, shards in wrong[:_NAMED]:
        if shards:
            yield notice("shards.overlap", case=key.eval_id, shards=", ".join(shards))
        else:
            yield notice("shards.gap", case=key.eval_id)


def added_up(usages: Sequence[Usage]) -> Usage:
    """Counts add up; shards run side by side, so the longest is how long it took."""
    names = sorted({name for usage in usages for name in usage.by_criterion})
    return Usage(
        **_added(usages),
        seconds=max(usage.seconds for usage in usages),
        by_criterion={
            name: CriterionUsage(**_added([u.by_criterion.get(name) for u in usages]))
            for name in names
        },
    )


def _added(usages: Sequence[CriterionUsage | None]) -> dict[str, int]:
    present = [usage for usage in usages if usage is not None]
    return {
        field: sum(getattr(usage, field) for usage in present)
        for field in CriterionUsage.model_fields
    }
