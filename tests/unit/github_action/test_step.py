"""What the runner reads from us, read as the runner does."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegate.github_action.step import (
    SUMMARY_LIMIT,
    append_summary,
    mask,
    neutralise,
    output_entry,
    write_outputs,
)

HOSTILE = st.text(st.sampled_from(":#[]! a\t\n\r\v\x00\x1b\x85\u00ad\u200b\u2028\ufeff\ud800é"))


def as_the_runner_reads(text: str) -> dict[str, str]:
    """The outputs in such a file; a line that is none makes the runner fail the step."""
    outputs = {}
    lines = iter(text.split("\n")[:-1])
    for line in lines:
        name, heredoc, delimiter = line.partition("<<")
        assert heredoc, f"no output: {line!r}"
        value: list[str] = []
        while (inner := next(lines)) != delimiter:
            value.append(inner)
        outputs[name] = "\n".join(value)
    return outputs


def commands(log: str) -> list[str]:
    """The lines that the runner may take for a command.

    It compares as a language does, which overlooks signs that have no width.
    """
    visible = [
        "".join(sign for sign in line if unicodedata.category(sign)[0] not in "CM").lstrip()
        for line in re.split(r"\r\n|[\n\r]", log)
    ]
    return [line for line in visible if line.startswith("::") or "##[" in line]


def test_outputs_of_every_shape_arrive_whole(tmp_path: Path) -> None:
    """Several lines, empty values, and what looks like another output are all values."""
    outputs = {
        "decision": "fail",
        "report": "",
        "comment-url": "https://github.example/a?b=c&d",
        "html": "one\n\ntwo\n",
        "improvements": "decision<<EOF\npass\nEOF\ndecision=pass",
    }
    file = tmp_path / "output"
    file.write_text("earlier<<EOF\nkept\nEOF\n")
    write_outputs(file, outputs)
    assert as_the_runner_reads(file.read_text()) == {"earlier": "kept", **outputs}


@given(value=st.text(st.characters(exclude_categories=["Cs"])))
def test_no_value_can_end_its_output_early(value: str) -> None:
    """Whatever an agent says arrives as it is, and as nothing else."""
    entry = output_entry("report", value, "a_delimiter_nobody_knows")
    assert as_the_runner_reads(entry) == {"report": value}


def test_delimiters_cannot_be_foreseen(tmp_path: Path) -> None:
    """Each output has one of its own, long enough not to be guessed."""
    file = tmp_path / "output"
    for _ in range(2):
        write_outputs(file, {"decision": "pass", "report": "x"})
    delimiters = re.findall(r"<<(\S+)", file.read_text())
    assert len(set(delimiters)) == 4
    assert all(re.search(r"[0-9a-f]{32}$", delimiter) for delimiter in delimiters)


def test_a_value_that_holds_its_delimiter_is_refused() -> None:
    """Rather no output than one that somebody else wrote."""
    with pytest.raises(ValueError, match="its own delimiter"):
        output_entry("report", "x\nEND\ndecision<<Y", "END")


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "a=b", "a<<b", "1st", "é", "decision\n"])
def test_a_name_the_runner_would_misread_is_refused(name: str) -> None:
    """A name is letters, digits, `_` and `-`."""
    with pytest.raises(ValueError, match="no name for an output"):
        output_entry(name, "x", "END")


def test_text_that_is_not_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    """Half a character, as an agent may produce, is shown as its number."""
    output, summary = tmp_path / "output", tmp_path / "summary"
    write_outputs(output, {"report": "\ud800"})
    append_summary(summary, "\ud800")
    assert as_the_runner_reads(output.read_text()) == {"report": "\\ud800"}
    assert summary.read_text() == "\\ud800"


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    """Nothing is translated on the way into the file."""
    file = tmp_path / "summary"
    append_summary(file, "a\r\nb\nc")
    assert file.read_bytes() == b"a\r\nb\nc"


def test_summaries_add_up(tmp_path: Path) -> None:
    """What an earlier part of the step wrote stays."""
    file = tmp_path / "summary"
    for text in ("# One\n", "# Two\n"):
        append_summary(file, text)
    assert file.read_text() == "# One\n# Two\n"


@pytest.mark.parametrize(
    ("present", "added", "fits"),
    [
        (0, "x" * (SUMMARY_LIMIT - 1), True),
        (0, "x" * SUMMARY_LIMIT, False),
        (SUMMARY_LIMIT - 10, "x" * 9, True),
        (SUMMARY_LIMIT - 10, "x" * 10, False),
        (0, "é" * (SUMMARY_LIMIT // 2), False),
    ],
)
def test_a_summary_github_would_drop_is_not_written(
    tmp_path: Path, present: int, added: str, *, fits: bool
) -> None:
    """The limit is in bytes, for all of the step; at the limit the file stays as it was."""
    file = tmp_path / "summary"
    file.write_bytes(b"-" * present)
    if fits:
        append_summary(file, added)
        assert file.stat().st_size == present + len(added)
    else:
        with pytest.raises(ValueError, match="GitHub drops it"):
            append_summary(file, added)
        assert file.stat().st_size == present


def test_secrets_are_masked() -> None:
    """Each becomes one command, on one line, that means the secret as it is."""
    assert mask(["s3cret", "100%\r\nsure", "%0A"]) == [
        "::add-mask::s3cret",
        "::add-mask::100%25%0D%0Asure",
        "::add-mask::%250A",
    ]


def test_nothing_is_not_masked() -> None:
    """A mask of nothing or of blanks would hide the whole log."""
    assert mask(["", " ", "\n"]) == []


@pytest.mark.parametrize(
    "attack",
    [
        "::set-output name=decision::pass",
        "  \t::stop-commands::x",
        "harmless\n::error::you were hacked",
        "harmless\r::error::x",
        "harmless\r\n::error::x",
        "\u200b::error::x",
        ":\u200b:error::x",
        ":\x00:error::x",
        "\ufeff::error::x",
        "harmless\u2028::error::x",
        "harmless\x85::error::x",
        "\x1b::error::x",
        "##[error]x",
        "in the middle ##[set-env name=PATH;]x",
        "#\u200b#[error]x",
        "##\u00ad[error]x",
        "###[error]x",
        ":::error::x",
    ],
)
def test_no_command_gets_through(attack: str) -> None:
    """An agent's words cannot steer the runner, however they are disguised."""
    assert commands(attack.replace("\u2028", "\n").replace("\x85", "\n")), "it is an attack"
    assert commands(neutralise(attack)) == []


@given(HOSTILE)
def test_no_text_becomes_a_command(text: str) -> None:
    """Nor does any other mixture of the signs that commands are made of."""
    safe = neutralise(text)
    assert commands(safe) == []
    safe.encode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer: 42\n",
        "std::vector and a::b",
        "# Title\n[link](x)",
        "日本語\n\tin",
        "a:b",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Only what could be a command is changed."""
    assert neutralise(text) == text


def test_what_is_changed_can_still_be_read() -> None:
    """A blank is all it takes."""
    assert neutralise("::error::x ##[y]") == ": :error::x ## [y]"


def test_control_characters_are_shown_not_obeyed() -> None:
    """Nothing can colour, clear or overwrite the log."""
    assert neutralise("\x1b[2Jgone\x07\x00\ta\rb") == "\ufffd[2Jgone\ufffd\ufffd\ta\nb"
