"""Secret values leave us in nothing we write."""

from gradegate.model.masking import SecretMasker
from gradegate.model.runs import Trace


def test_secrets_are_found_by_their_names() -> None:
    """A path to a secret is none, and neither is a short word."""
    environ = {
        "GOOGLE_API_KEY": "AIza-0123456789",
        "INPUT_GITHUB-TOKEN": "ghs_abcdefgh",
        "GOOGLE_APPLICATION_CREDENTIALS": "/run/secrets/account.json",
        "MONKEY": "banana",
        "PATH": "/usr/bin",
    }
    assert list(SecretMasker.in_environ(environ)) == ["AIza-0123456789", "ghs_abcdefgh"]


def test_a_secret_is_hidden_wherever_it_stands() -> None:
    """Also where JSON writes it differently, and where one secret is part of another."""
    secrets = SecretMasker(['quo"ted\\secret', "secret-part", "secret-part-and-more"])
    trace = Trace(
        eval_set="s",
        eval_id="e",
        error='said quo"ted\\secret and secret-part-and-more, secret-part',
    )
    assert secrets.hide_in(trace).error == "said *** and ***, ***"
    assert secrets.hide("a secret-part") == "a ***"


def test_what_has_no_secret_in_it_stays_the_same_value() -> None:
    """Nothing is copied for nothing."""
    trace = Trace(eval_set="s", eval_id="e")
    assert SecretMasker(["something-else"]).hide_in(trace) is trace


def test_the_values_are_not_told_by_accident() -> None:
    """A traceback or a log line that shows the object shows no secret."""
    assert "hush-hush" not in repr(SecretMasker(["hush-hush"]))
