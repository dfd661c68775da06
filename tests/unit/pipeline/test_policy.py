from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gradegate.evalsets.project import Project
from gradegate.model.errors import InputError
from gradegate.model.notice import texts_of
from gradegate.model.overrides import Overrides
from gradegate.model.report import ReasonKind
from gradegate.model.settings import (
    DEFAULT_FAIL_ON,
    CriterionGate,
    Gate,
    JudgeSettings,
    Quarantine,
    ReportSettings,
    Settings,
    Suite,
)
from gradegate.model.variables import MODEL_VARIABLES, own_names
from gradegate.pipeline.policy import BASES, EACH_SIDES_OWN, Policy, effective

DESK = Suite(name="desk", command=("python3", "agent.py"), evals=("evals",), env=own_names("KEY"))
STRICT = Gate(
    fail_on=(*DEFAULT_FAIL_ON, ReasonKind.THRESHOLD),
    tolerance=0.01,
    alpha=0.05,
    confirm_runs=24,
    criteria={"response_match_score": CriterionGate(tolerance=0.005)},
    budget={"token_usage_v1": "+10%"},
)
LOOSE = Gate(
    fail_on=(ReasonKind.REGRESSION,),
    tolerance=0.2,
    alpha=0.005,
    confirm_runs=8,
    criteria={"response_match_score": CriterionGate(tolerance=0.5)},
    budget={"token_usage_v1": "+50%"},
)


def settings(*suites: Suite, **more: Any) -> Settings:
    """A settings file with the desk's suite, or with these."""
    return Settings(suite=suites or (DESK,), **more)


def policy(base: Settings | None, head: Settings | None, **inputs: Any) -> Policy:
    """What holds, where both sides' suites are those of their files."""
    ours, theirs = (Project(Path(), one, one.suite if one else (DESK,)) for one in (base, head))
    return effective(ours, theirs, Overrides(**inputs))


def suites(found: Policy) -> tuple[tuple[Suite, ...], tuple[Suite, ...]]:
    """Base's and head's."""
    return found.suites["base"], found.suites["head"]


def entry(eval_id: str = "paris", until: str = "2026-06-30") -> Quarantine:
    """A case in quarantine."""
    return Quarantine(
        eval_set="evals/a.evalset.json",
        eval_id=eval_id,
        owner="@desk",
        reason="late",
        until=date.fromisoformat(until),
    )


def test_a_stricter_gate_of_head_counts_at_once() -> None:
    """Every rule, each by itself."""
    assert policy(settings(gate=LOOSE), settings(gate=STRICT)).gate == STRICT.model_copy(
        update={"fail_on": tuple(k for k in ReasonKind if k in STRICT.fail_on)}
    )


def test_a_looser_gate_of_head_waits_until_it_is_merged() -> None:
    """Whatever head relaxes, base's rule holds."""
    gate = policy(settings(gate=STRICT), settings(gate=LOOSE)).gate
    assert set(gate.fail_on) == set(STRICT.fail_on)
    assert (gate.tolerance, gate.alpha, gate.confirm_runs) == (0.01, 0.05, 24)
    assert gate.tolerance_for("response_match_score") == 0.005
    assert gate.budget == {"token_usage_v1": "+10%"}


def test_deleting_the_settings_file_relaxes_nothing() -> None:
    """Head without a file has the defaults, which count only where they are stricter."""
    base = settings(gate=STRICT, quarantine=(entry(),))
    found = policy(base, None)
    assert found.gate.tolerance == 0.01
    assert ReasonKind.THRESHOLD in found.gate.fail_on
    assert found.quarantine == ()


def test_head_may_add_a_rule_of_its_own() -> None:
    """A budget or a criterion's tolerance that base has not got is stricter than none."""
    head = Gate(
        budget={"token_usage_v1": "+20%"},
        criteria={"safety_v1": CriterionGate(tolerance=0.0)},
    )
    gate = policy(settings(), settings(gate=head)).gate
    assert gate.budget == {"token_usage_v1": "+20%"}
    assert gate.tolerance_for("safety_v1") == 0.0
    assert gate.tolerance_for("response_match_score") == Gate().tolerance


def test_without_a_file_on_base_heads_word_counts() -> None:
    """The pull request that introduces gradegate.toml is tried by it."""
    head = settings(gate=LOOSE, judge=JudgeSettings(model="other"), quarantine=(entry(),))
    found = policy(None, head)
    assert found.gate.model_copy(update={"fail_on": LOOSE.fail_on}) == LOOSE
    assert set(found.gate.fail_on) == set(LOOSE.fail_on)
    assert found.judge.model == "other"
    assert found.quarantine == (entry(),)
    assert suites(found) == ((DESK,), (DESK,))
    assert found.warnings == ()


def test_the_judge_is_bases() -> None:
    """A pull request does not choose who judges it."""
    base, head = (
        settings(judge=JudgeSettings(model="strict")),
        settings(judge=JudgeSettings(model="kind")),
    )
    assert policy(base, head).judge.model == "strict"


def test_how_the_report_is_shown_is_bases() -> None:
    """Or a pull request could be quiet about itself; what it would have changed is told."""
    base = settings(report=ReportSettings(language="ja"))
    head = settings(report=ReportSettings(comment="never"), judge=JudgeSettings(max_calls=1))
    found = policy(base, head)
    assert found.report == base.report
    assert texts_of(found.warnings) == (
        (
            "this pull request changes `max_calls` under [judge]; base's word counts until it is "
            "merged"
        ),
        (
            "this pull request changes `language`, `comment` under [report]; base's word counts "
            "until it is merged"
        ),
    )


@pytest.mark.parametrize(
    ("base", "head", "holds"),
    [
        ((), (entry(),), ()),
        ((entry(),), (), ()),
        ((entry(),), (entry(),), (entry(),)),
        ((entry(),), (entry(until="2027-01-01"),), (entry(),)),
        ((entry(),), (entry(until="2026-01-01"),), (entry(until="2026-01-01"),)),
        ((entry(),), (entry("rome"),), ()),
    ],
    ids=["added", "removed", "kept", "extended", "shortened", "another case"],
)
def test_quarantine_counts_only_where_both_sides_agree(
    base: tuple[Quarantine, ...], head: tuple[Quarantine, ...], holds: tuple[Quarantine, ...]
) -> None:
    """Head can end one at once, and begin or extend one only by being merged."""
    found = policy(settings(quarantine=base), settings(quarantine=head))
    assert found.quarantine == holds


CHANGES: dict[str, Any] = {
    "agent": "agents/other",
    "command": ("python3", "serve.py"),
    "traces": "t.json",
    "python": "/usr/bin/python3",
    "requirements": "other.txt",
    "paths": ("agent.py",),
    "turn_timeout": 0.3,
    "case_timeout": 1.0,
    "memory_mb": 64,
    "max_parallel": 1,
    "env": own_names("KEY", "SECRET"),
    "runs": 3,
    "tools": "recorded",
    "tools_missing": "live",
    "ignore_args": ("*.now",),
}


def changed(field: str, suite: Suite = DESK) -> Suite:
    """The suite with another value."""
    return suite.model_copy(update={field: CHANGES[field]})


@pytest.mark.parametrize("field", [key for key in EACH_SIDES_OWN if key not in ("agent", "traces")])
def test_how_an_agent_is_run_is_each_sides_own(field: str) -> None:
    """Head can mend it for itself, and cannot hamper base; it is told."""
    head = changed(field)
    found = policy(settings(), settings(head))
    assert suites(found) == ((DESK,), (head,))
    assert texts_of(found.warnings) == (
        f"suite desk: this pull request changes `{field}`; each side is run with its own",
    )


@pytest.mark.parametrize("field", [key for key in BASES if key in CHANGES])
def test_what_an_agent_is_given_comes_from_base(field: str) -> None:
    """Head's change of it is told, and waits."""
    found = policy(settings(), settings(changed(field)))
    assert suites(found) == ((DESK,), (DESK,))
    assert texts_of(found.warnings) == (
        f"suite desk: this pull request changes `{field}`; base's word counts until it is merged",
    )


def test_every_key_of_a_suite_has_somebody_whose_word_counts() -> None:
    """A new key is base's; one that is each side's own is added to the list, and to this one."""
    assert set(EACH_SIDES_OWN) | set(BASES) | {"name", "evals", "eval_config"} == set(
        Suite.model_fields
    )
    assert {"env", "runs", "tools", "tools_missing", "ignore_args"} <= set(BASES)


def test_what_is_evaluated_comes_from_head() -> None:
    """Eval sets and configs; base's own are read to see what was asked before."""
    head = DESK.model_copy(update={"evals": ("more",), "eval_config": "c.json"})
    found = policy(settings(), settings(head))
    assert suites(found) == ((DESK,), (head,))
    assert found.warnings == ()


AGENT = Suite(name="desk", agent="agents/desk", env=own_names("KEY"))


@pytest.mark.parametrize(("base", "head"), [(DESK, AGENT), (AGENT, DESK)])
def test_another_kind_of_agent_is_heads_alone(base: Suite, head: Suite) -> None:
    """Head's code runs either way; base runs what base is."""
    assert suites(policy(settings(base), settings(head))) == ((base,), (head,))


def test_a_recording_in_place_of_bases_program_is_not_played() -> None:
    """Base's program runs, or a recording could say whatever pleases the gate."""
    head = Suite(name="desk", traces="t.json", env=own_names("KEY"), evals=("evals",))
    found = policy(settings(), settings(head))
    assert suites(found) == ((DESK,), (DESK,))
    assert "`traces`; base's word counts" in found.warnings[0].text


@pytest.mark.parametrize("agent", [None, "agents/other"])
def test_head_cannot_put_a_recording_in_place_of_bases_agent(agent: str | None) -> None:
    """The agent runs, also from where head has moved it to."""
    head = Suite(name="desk", agent=agent, traces="t.json", env=own_names("KEY"))
    found = policy(settings(AGENT), settings(head))
    (suite,) = found.suites["head"]
    assert (suite.agent, suite.traces) == (agent or "agents/desk", None)
    assert "`traces`" in found.warnings[0].text


def test_a_recording_on_base_may_be_an_agent_on_head() -> None:
    """Each side answers as its own files say."""
    base = Suite(name="desk", traces="t.json", env=own_names("KEY"))
    assert suites(policy(settings(base), settings(DESK))) == ((base,), (DESK,))


@pytest.mark.parametrize(
    ("base", "head", "sees"),
    [
        (AGENT.model_copy(update={"env": {}}), Suite(name="desk", agent="a"), {}),
        (Suite(name="desk", command=("x",)), Suite(name="desk", agent="a"), {}),
        (Suite(name="desk", agent="a"), DESK, own_names(*MODEL_VARIABLES)),
        (AGENT, Suite(name="desk", command=("x",), env={"KEY": "SECRET"}), own_names("KEY")),
        (DESK.model_copy(update={"env": {"KEY": "MINE"}}), AGENT, {"KEY": "MINE"}),
    ],
    ids=["deleted", "default of another kind", "default of base", "renamed", "renaming of base"],
)
def test_not_set_never_means_more_than_base_allowed(
    base: Suite, head: Suite, sees: dict[str, str]
) -> None:
    """Neither a line that is gone nor another kind of agent hands a key on."""
    found = policy(settings(base), settings(head))
    assert [suite.variables for both in suites(found) for suite in both] == [sees, sees]


def test_a_new_suite_sees_what_base_lets_one_of_its_own_see() -> None:
    """Otherwise a pull request could name any secret in a suite of its own."""
    new = DESK.model_copy(update={"name": "new", "env": {"KEY": "KEY", "B": "SECRET"}})
    found = policy(settings(), settings(DESK, new))
    assert [suite.env for suite in found.suites["head"]] == [own_names("KEY")] * 2
    assert texts_of(found.warnings) == (
        (
            "suite new is new, and no suite of base sees `SECRET`: its `env` counts in full once "
            "it is merged"
        ),
    )


def test_where_base_has_no_file_its_agents_see_the_usual() -> None:
    """Head's file is the first word, on both sides alike."""
    base = Suite(name="desk", agent="agents/desk")
    own = (
        Project(Path(), None, (base,)),
        Project(Path(), settings(changed("runs", AGENT)), (changed("runs", AGENT),)),
    )
    found = effective(*own, Overrides())
    assert [(s.env, s.runs) for both in suites(found) for s in both] == [(own_names("KEY"), 3)] * 2
    assert found.warnings == ()


def test_inputs_win_over_both_files() -> None:
    """The workflow's word is the last, and it comes from neither side's file."""
    found = policy(
        settings(gate=STRICT),
        settings(gate=LOOSE),
        fail_on=(ReasonKind.REMOVED,),
        tolerance=0.3,
        runs=5,
        evals=("only.evalset.json",),
        language="ja",
        comment="never",
    )
    assert found.gate.fail_on == (ReasonKind.REMOVED,)
    assert found.gate.tolerance == 0.3
    for (suite,) in suites(found):
        assert suite.runs == 5
        assert suite.evals == ("only.evalset.json",)
    assert found.report == ReportSettings(language="ja", comment="never")


def test_an_inputs_tolerance_is_not_undone_by_what_head_may_not_relax() -> None:
    """A criterion that base gives no tolerance of its own goes by the input."""
    head = Gate(criteria={"safety_v1": CriterionGate(tolerance=0.5)})
    gate = policy(settings(), settings(gate=head), tolerance=0.3).gate
    assert gate.tolerance_for("safety_v1") == 0.3


def test_an_input_that_the_suite_has_no_use_for_is_refused() -> None:
    """An ADK agent's folder beside a suite that runs a program."""
    with pytest.raises(InputError, match=r"input `agent`.*`desk` runs a `command`"):
        policy(None, settings(), agent="agents/desk")


def test_one_suite_can_be_chosen_and_must_exist() -> None:
    """The message lists those there are."""
    both = settings(DESK, DESK.model_copy(update={"name": "shop"}))
    assert [one.name for one in policy(None, both, suite="shop").suites["head"]] == ["shop"]
    with pytest.raises(InputError, match="no suite `shp`: this repository has `desk`, `shop`"):
        policy(None, both, suite="shp")


@pytest.mark.parametrize(("alpha", "least"), [(0.02, 4), (0.2, 3), (0.001, 7)])
def test_a_gate_that_could_never_confirm_anything_is_refused(alpha: float, least: int) -> None:
    """The message says how many runs would do."""
    for runs in range(1, least):
        with pytest.raises(InputError, match=rf"`confirm_runs`.* is {runs}:.*write {least} or"):
            policy(settings(), settings(gate=Gate(alpha=alpha, confirm_runs=runs)))
    for runs in (0, least, 16):
        policy(settings(), settings(gate=Gate(alpha=alpha, confirm_runs=runs)))


def test_no_confirming_at_all_is_the_strictest_rule() -> None:
    """With it every case that turned red blocks; more runs are stricter than fewer."""
    for base, head, holds in ((0, 16, 0), (16, 0, 0), (8, 16, 16), (16, 8, 16)):
        sides = (settings(gate=Gate(confirm_runs=runs)) for runs in (base, head))
        assert policy(*sides).gate.confirm_runs == holds
