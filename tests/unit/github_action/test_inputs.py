import pytest
from pydantic import SecretStr

from gradegate.github_action.inputs import Inputs, Mode
from gradegate.model.errors import InputError
from gradegate.model.overrides import Shard
from gradegate.model.report import ReasonKind


def read(**given: str) -> Inputs:
    """The inputs of a workflow that gives these, under the names GitHub makes of them."""
    names = {name.replace("_", "-").upper(): value for name, value in given.items()}
    return Inputs.from_environ({f"INPUT_{name}": value for name, value in names.items()})


def test_nothing_given_leaves_the_word_to_the_settings_file() -> None:
    """Only what has no place in gradegate.toml has a default here."""
    inputs = Inputs.from_environ({"PATH": "/bin"})
    assert inputs.model_dump(exclude_none=True) == {
        "mode": Mode.AUTO,
        "check_name": "gradegate",
        "shards_dir": ".gradegate/shards",
        "data_branch": "gradegate-data",
        "working_directory": ".",
        "report_dir": ".gradegate/report",
    }


def test_empty_and_blank_values_are_not_given() -> None:
    """GitHub sets a variable for every input, also where the workflow says nothing."""
    blank = {"github_token": "", "runs": " ", "fail_on": "\n", "mode": "", "check_name": " "}
    assert read(**blank) == Inputs()


def test_every_input_is_read_from_its_own_variable() -> None:
    """A full workflow step comes out as typed values."""
    assert read(
        github_token="a-token",  # noqa: S106 - a made-up one
        config="ci/gradegate.toml",
        suite="weather",
        agent="agents/weather",
        evals="a/*.evalset.json\nb/*.test.json",
        base="origin/main",
        mode="evaluate",
        runs="3",
        fail_on="regression, removed",
        tolerance="0.05",
        comment="changes",
        language="ja",
        check_name="weather evals",
        shard="2/8",
        shards_dir="parts",
        confirm_shards="4",
        store=".gradegate/store.sqlite",
        working_directory="services/agent",
        report_dir="out",
    ) == Inputs(
        github_token=SecretStr("a-token"),
        config="ci/gradegate.toml",
        suite="weather",
        agent="agents/weather",
        evals=("a/*.evalset.json", "b/*.test.json"),
        base="origin/main",
        mode=Mode.EVALUATE,
        runs=3,
        fail_on=(ReasonKind.REGRESSION, ReasonKind.REMOVED),
        tolerance=0.05,
        comment="changes",
        language="ja",
        check_name="weather evals",
        shard=Shard(number=2, total=8),
        shards_dir="parts",
        confirm_shards=4,
        store=".gradegate/store.sqlite",
        working_directory="services/agent",
        report_dir="out",
    )


def test_hyphens_stay_hyphens_in_the_variable() -> None:
    """GitHub keeps them, so an underscore is someone else's variable."""
    assert Inputs.from_environ({"INPUT_FAIL_ON": "nonsense"}) == Inputs()


@pytest.mark.parametrize(
    "text", ["regression,removed", "regression\nremoved", " regression ,\n removed,\n"]
)
def test_lists_take_commas_and_newlines(text: str) -> None:
    """A workflow may write a list on one line or on several, and end it as it likes."""
    assert read(fail_on=text).fail_on == (ReasonKind.REGRESSION, ReasonKind.REMOVED)


def test_a_kind_named_twice_counts_once() -> None:
    """Saying a thing again changes nothing."""
    assert read(fail_on="budget,budget").fail_on == (ReasonKind.BUDGET,)


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("1", 1.0), (".5", 0.5), ("0.02", 0.02)])
def test_a_tolerance_is_a_share(text: str, value: float) -> None:
    """From nothing to everything, both included."""
    assert read(tolerance=text).tolerance == value


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("mode", "evalute", "did you mean `evaluate`? Write one of `auto`, `evaluate`, `publish`"),
        ("mode", "xyz", "write one of `auto`, `evaluate`, `publish`, `baseline`"),
        ("fail_on", "regression, new-failure", "did you mean `new_failure`?"),
        ("fail_on", " , ", "name at least one, or leave it out"),
        ("comment", "Always", "did you mean `always`?"),
        ("language", "fr", "write one of `en`, `ja`"),
        ("runs", "0", "a whole number from 1"),
        ("runs", "-1", "a whole number from 1"),
        ("runs", "2.5", "a whole number from 1"),
        ("runs", "٣", "a whole number from 1"),
        ("tolerance", "2%", "a number from 0 to 1, such as `0.02`"),
        ("tolerance", "1.01", "a number from 0 to 1"),
        ("tolerance", "nan", "a number from 0 to 1"),
        ("tolerance", "-0.1", "a number from 0 to 1"),
        ("shard", "9/8", "from `1/8` to `8/8`"),
        ("shard", "0/8", "from `1/8` to `8/8`"),
        ("shard", "2", "from `1/8` to `8/8`"),
    ],
)
def test_a_wrong_value_says_what_to_write_instead(name: str, text: str, advice: str) -> None:
    """The message names the input as the workflow spells it, and how to mend it."""
    with pytest.raises(InputError) as refused:
        read(**{name: text})
    message = str(refused.value)
    assert f"input `{name.replace('_', '-')}`" in message
    assert advice in message


def test_the_message_quotes_the_item_that_is_wrong() -> None:
    """Of a long list, the one at fault; control characters cannot start a log line."""
    with pytest.raises(InputError, match=r"'remved\\x1b'"):
        read(fail_on="regression, remved\x1b")


def test_the_token_is_in_no_representation() -> None:
    """Neither a log nor a traceback's locals give it away."""
    inputs = read(github_token="s3cret")  # noqa: S106 - a made-up one
    assert "s3cret" not in f"{inputs!r} {inputs} {inputs.model_dump()} {inputs.model_dump_json()}"
    assert inputs.require_token().get_secret_value() == "s3cret"


def test_a_missing_token_is_an_error_only_where_it_is_needed() -> None:
    """Reading inputs without one is fine; asking for it says what to write."""
    inputs = Inputs.from_environ({})
    with pytest.raises(InputError, match=r"write `github-token: \$\{\{ github\.token \}\}`"):
        inputs.require_token()
