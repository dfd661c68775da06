from datetime import date
from typing import Any

import pytest

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
from gradegate.pipeline.policy import Policy, effective

DESK = Suite(name="desk", command=("python3", "agent.py"), evals=("evals",), env=("KEY",))
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
    """What holds, where head's suites are those of its file."""
    return effective(base, head, head.suite if head else (DESK,), Overrides(**inputs))


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
    assert found.suites == (DESK,)
    assert found.warnings == ()


def test_the_judge_is_bases() -> None:
    """A pull request does not choose who judges it."""
    base, head = (
        settings(judge=JudgeSettings(model="strict")),
        settings(judge=JudgeSettings(model="kind")),
    )
    assert policy(base, head).judge.model == "strict"


def test_how_the_report_is_shown_is_heads() -> None:
    """It hides nothing from the gate."""
    head = settings(report=ReportSettings(language="ja", comment="changes"))
    assert policy(settings(), head).report == head.report


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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env", ("KEY", "GITHUB_TOKEN")),
        ("command", ("python3", "cheat.py")),
        ("python", "/usr/bin/python3"),
        ("requirements", "other.txt"),
    ],
)
def test_what_the_agents_process_is_comes_from_base(field: str, value: object) -> None:
    """Head's change of it is told, and waits."""
    found = policy(settings(), settings(DESK.model_copy(update={field: value})))
    assert found.suites == (DESK,)
    assert texts_of(found.warnings) == (
        f"suite desk: this pull request changes `{field}`; base's word counts until it is merged",
    )


def test_what_is_evaluated_comes_from_head() -> None:
    """Eval sets, configs and runs are head's on both sides."""
    head = DESK.model_copy(update={"evals": ("more",), "runs": 3, "eval_config": "c.json"})
    found = policy(settings(), settings(head))
    assert found.suites == (head,)
    assert found.warnings == ()


@pytest.mark.parametrize(
    "head",
    [Suite(name="desk", traces="t.json", env=("KEY",)), Suite(name="desk", agent="a")],
    ids=["a recording", "another agent"],
)
def test_head_cannot_put_something_else_in_place_of_bases_program(head: Suite) -> None:
    """What base says to run is run, or a recording could say whatever pleases the gate."""
    (suite,) = policy(settings(), settings(head)).suites
    assert suite.command == DESK.command
    assert (suite.agent, suite.traces) == (None, None)


@pytest.mark.parametrize("agent", [None, "agents/other"])
def test_head_cannot_put_a_recording_in_place_of_bases_agent(agent: str | None) -> None:
    """The agent runs, also from where head has moved it to."""
    base = Suite(name="desk", agent="agents/desk")
    head = Suite(name="desk", agent=agent, traces="t.json")
    found = policy(settings(base), settings(head))
    (suite,) = found.suites
    assert (suite.agent, suite.traces) == (agent or "agents/desk", None)
    assert "`traces`" in found.warnings[0].text


def test_a_program_in_place_of_an_agent_runs_with_what_base_lets_it_see() -> None:
    """Head's code runs either way; its environment is base's to name."""
    base = Suite(name="desk", agent="agents/desk", env=("KEY",))
    head = DESK.model_copy(update={"env": ("KEY", "SECRET")})
    (suite,) = policy(settings(base), settings(head)).suites
    assert suite.command == DESK.command
    assert suite.env == ("KEY",)


def test_a_new_suite_sees_nothing_of_the_environment_until_it_is_merged() -> None:
    """Otherwise a pull request could name any secret in a suite of its own."""
    found = policy(settings(), settings(DESK, DESK.model_copy(update={"name": "new"})))
    assert [suite.env for suite in found.suites] == [("KEY",), ()]
    assert texts_of(found.warnings) == ("suite new is new: its `env` counts once it is merged",)


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
    assert found.suites[0].runs == 5
    assert found.suites[0].evals == ("only.evalset.json",)
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
    assert [one.name for one in policy(None, both, suite="shop").suites] == ["shop"]
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
