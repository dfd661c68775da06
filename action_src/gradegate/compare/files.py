"""Two results files compared: what is in them is all there is."""

from collections.abc import Sequence

from gradegate.compare.assemble import Findings, Frame, assemble
from gradegate.compare.cases import Judgement, SuspectId, judge_pair
from gradegate.compare.confirm import Outcome
from gradegate.compare.gate import Rules
from gradegate.compare.observe import fresh
from gradegate.compare.pairing import Pair, pair
from gradegate.compare.recorded import RecordedCase, judge_recorded
from gradegate.model.case import Case
from gradegate.model.evalset import DEFAULT_EVAL_CONFIG, EvalCase
from gradegate.model.evaluation import Role, Runs, Scored
from gradegate.model.report import BaseSide, HeadSide, Report
from gradegate.model.result import CaseResult, Results, Status
from gradegate.model.settings import Gate
from gradegate.model.trace import NotRun

NO_TRACE = NotRun("a results file keeps scores, not what was said")


def compare_results(base: Results, head: Results, gate: Gate | None = None) -> Report:
    """Pair the cases of both files, test them, decide.

    With one run a side a flip blocks; with several, an exact test over all cases decides.
    """
    gate = gate or Gate()
    pairs = pair(_cases(base), _cases(head))
    before, after = _runs(base), _runs(head)
    judgements = _judge(pairs, before, after, _tested(pairs, before, after, gate))
    return assemble(
        Findings(pairs, judgements, before, after, look=None),
        Rules(gate),
        Frame(
            base=BaseSide(commit=base.commit, source="run", fingerprint=base.fingerprint),
            head=HeadSide(commit=head.commit, fingerprint=head.fingerprint),
            usage=head.usage,
            warnings=(*(f"base: {text}" for text in base.warnings), *head.warnings),
        ),
    )


def lean(results: Results) -> Results:
    """The same without the turns of what passed, which nobody will be shown.

    Half of what a large file holds; two of them are held at once.
    """
    return results.model_copy(update={"cases": tuple(map(_lean_case, results.cases))})


def _lean_case(case: CaseResult) -> CaseResult:
    criteria = {
        name: one.model_copy(update={"invocations": ()}) if one.status is Status.PASSED else one
        for name, one in case.criteria.items()
    }
    return case.model_copy(update={"criteria": criteria})


def _judge(
    pairs: Sequence[Pair], base: Runs, head: Runs, settled: dict[SuspectId, Outcome]
) -> list[Judgement]:
    return [one for each in pairs for one in judge_pair(each, base, head, settled)]


def _tested(pairs: Sequence[Pair], base: Runs, head: Runs, gate: Gate) -> dict[SuspectId, Outcome]:
    """An exact test over all cases that were run more than once."""
    several = [
        pair for pair in pairs if max(len(base.get(pair.key, ())), len(head.get(pair.key, ()))) > 1
    ]
    cases = [
        RecordedCase(
            id=(one.pair.key, one.criterion),
            base=fresh(base.get(one.pair.key, ()), one.criterion, Role.FIRST),
            head=fresh(head.get(one.pair.key, ()), one.criterion, Role.FIRST),
        )
        for one in _judge(several, base, head, {})
        if one.base is not None
    ]
    return dict(judge_recorded(cases, alpha=gate.alpha))  # type: ignore[arg-type] # our ids


def _runs(results: Results) -> Runs:
    found: dict[object, list[Scored]] = {}
    for case in results.cases:
        found.setdefault(case.key, []).append(Scored(Role.FIRST, NO_TRACE, case))
    return found  # type: ignore[return-value] # keyed as above


def _cases(results: Results) -> list[Case]:
    """The cases by name: their definitions are not in the file, and so never count as edited."""
    return [
        Case(
            suite=one.suite,
            eval_set=one.eval_set,
            eval_set_id=one.eval_set,
            eval_id=one.eval_id,
            line=one.line,
            definition=EvalCase(eval_id=one.eval_id, conversation=()),
            config=DEFAULT_EVAL_CONFIG,
            digest="",
        )
        for one in {case.key: case for case in results.cases}.values()
    ]
