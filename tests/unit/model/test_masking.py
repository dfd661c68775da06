"""Secret values leave us in nothing we write, whatever they are dressed as."""

import base64
import io
import json
import time
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegate.model.evalset import Content, Invocation, Part
from gradegate.model.masking import MaskedStream, SecretMasker
from gradegate.model.report import Report
from gradegate.model.runs import Trace

KEY = "AIza-Sy+A1b2/C3d4=E5f6 G7\"h8\\i9'&<é東\n京>"
SECRETS = SecretMasker([KEY])
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "url": lambda key: urllib.parse.quote(key, safe=""),
    "url with slashes": urllib.parse.quote,
    "form": urllib.parse.quote_plus,
    "url in small letters": lambda key: urllib.parse.quote(key, safe="").lower(),
    "every byte in percent": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "json": lambda key: json.dumps(key, ensure_ascii=False)[1:-1],
    "json in ascii": lambda key: json.dumps(key)[1:-1],
    "json in json": lambda key: json.dumps(json.dumps(key))[1:-1],
    "every character escaped": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 with a line end": lambda key: base64.b64encode(f"{key}\n".encode()).decode(),
    "base64 for urls": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 after one": lambda key: base64.b64encode(f"x{key}yz".encode()).decode(),
    "base64 after two": lambda key: base64.b64encode(f"ab{key}c".encode()).decode(),
    "base64 in a header": lambda key: base64.b64encode(f"x-access-token:{key}".encode()).decode(),
    "base64 in lines": lambda key: base64.encodebytes(key.encode() * 3).decode()[:80],
}


@pytest.mark.trust
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_key_is_hidden_in_every_disguise(disguise: str) -> None:
    """A key in base64, hex, escaped or reversed is hidden wherever it stands in a text."""
    dressed = DISGUISES[disguise](KEY)
    for at in range(7):
        text = f"{'é' * at}{dressed} and so on"
        assert SecretMasker(["another-key"]).hide(text) == text
        said = SECRETS.hide(text)
        assert "***" in said
        assert said.endswith(" and so on") or disguise == "base64 in lines"
        left = said.removeprefix("é" * at).removesuffix(" and so on")
        assert len(left) < len(dressed) / 2


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_key_is_hidden_in_every_text_of_a_value(disguise: str) -> None:
    """In what agents say, in arguments and their names, however JSON writes it; in nothing else."""
    dressed = DISGUISES[disguise](KEY)
    told = Invocation(
        user_content=Content(parts=(Part(text="What?"),)),
        final_response=Content(parts=(Part(text=f"It is {dressed}."),)),
        intermediate_data={"tool_uses": [{"name": "send", "args": {"to": [dressed], dressed: 1}}]},
    )
    trace = Trace(eval_set="s", eval_id="e", invocations=(told,), error=f"no {dressed}")
    hidden = SECRETS.hide_in(trace)
    text = hidden.model_dump_json()
    assert Trace.model_validate_json(text) == hidden
    assert json.dumps(dressed, ensure_ascii=False)[1:-1] not in text
    assert text.count("***") >= 4
    assert "What?" in text


@given(st.text(min_size=8), st.text(), st.text())
def test_whatever_the_secret_and_whatever_is_around_it(value: str, left: str, right: str) -> None:
    """Nothing of a text but secrets is lost."""
    secrets = SecretMasker([value])
    for secret in secrets:
        said = secrets.hide(f"{left}{secret}{right}")
        assert secret not in said or secret in f"{left}***{right}"
        assert "***" in said


def test_one_secret_may_be_part_of_another_or_overlap_it() -> None:
    """All of both is hidden."""
    secrets = SecretMasker(["secret-part", "secret-part-and-more", "and-more-of-it"])
    assert secrets.hide("a secret-part") == "a ***"
    assert secrets.hide("secret-part-and-more, secret-part") == "***, ***"
    assert secrets.hide("secret-part-and-more-of-it.") == "***."


def test_what_our_own_words_are_is_no_secret() -> None:
    """A password may be a word of ours; the report is still one."""
    report = {"schema": "gradegate/report/v1", "decision": {"state": "inconclusive"}}
    secrets = SecretMasker(["inconclusive", "gradegate/report/v1"])
    value = Report.model_validate({**report, "warnings": ["It is inconclusive."]})
    hidden = secrets.hide_in(value)
    assert hidden.decision.state == "inconclusive"
    assert hidden.warnings == ("It is ***.",)
    assert Report.model_validate_json(hidden.model_dump_json()) == hidden


def test_what_has_no_secret_in_it_stays_the_same_value() -> None:
    """Nothing is copied for nothing."""
    trace = Trace(eval_set="s", eval_id="e")
    assert SecretMasker(["something-else"]).hide_in(trace) is trace


def test_a_short_word_is_no_secret() -> None:
    """Hiding it would tear other words apart."""
    assert SecretMasker(["banana "]).hide("a banana") == "a banana"


def test_the_values_are_not_told_by_accident() -> None:
    """A traceback or a log line that shows the object shows no secret."""
    assert "hush-hush" not in repr(SecretMasker(["hush-hush"]))


def test_a_stream_says_no_secret() -> None:
    """Whoever prints to it, and whatever else is asked of it is the stream's own."""
    file = io.StringIO()
    stream = MaskedStream(file, SecretMasker(["hush-hush"]))
    print("say hush-hush", "twice: hush-hush", file=stream)
    stream.writelines(["hush-hush\n"])
    assert file.getvalue() == "say *** twice: ***\n***\n"
    assert stream.getvalue() == file.getvalue()


def test_many_secrets_cost_no_more_than_few() -> None:
    """A service account has thirty telling lines; a report may have ten megabytes."""
    text = "Weather in Paris is sunny today. " * 60_000
    costs = []
    for number in (2, 60):
        secrets = SecretMasker(f"{n:03}{'Ab3' * 20}" for n in range(number))
        secrets.hide(text[:100])
        began = time.process_time()
        assert secrets.hide(text) == text
        costs.append(time.process_time() - began)
    assert costs[1] < 10 * costs[0]
