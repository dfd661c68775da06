"""Limits that GitHub keeps and its description only tells in prose, or in other units."""

from collections.abc import Mapping
from typing import Any

from tests.standins.github.answer import invalid

COMMENT_CHARACTERS = 65_536
CHECK_TEXT_BYTES = 65_535  # the description says characters; the real one counts bytes
ANNOTATION_BYTES = 64 * 1024
ANNOTATION_TITLE = 255
STATUS_DESCRIPTION = 140


def check_comment(body: str) -> None:
    """Refuse a comment that is too long or blank."""
    if not body.strip():
        raise invalid("body can't be blank")
    if len(body) > COMMENT_CHARACTERS:
        raise invalid(f"body is too long (maximum is {COMMENT_CHARACTERS} characters)")


def check_output(output: Mapping[str, Any]) -> None:
    """Refuse texts and annotations that are too long."""
    for name in ("summary", "text"):
        if len(output.get(name, "").encode()) > CHECK_TEXT_BYTES:
            raise invalid(f"{name} exceeds a maximum bytesize of {CHECK_TEXT_BYTES}")
    for annotation in output.get("annotations", ()):
        _check_annotation(annotation)


def _check_annotation(annotation: Mapping[str, Any]) -> None:
    if len(annotation["message"].encode()) > ANNOTATION_BYTES:
        raise invalid("annotation message exceeds 64 KB")
    if len(annotation.get("title", "")) > ANNOTATION_TITLE:
        raise invalid(f"annotation title exceeds {ANNOTATION_TITLE} characters")
    if not 1 <= annotation["start_line"] <= annotation["end_line"]:
        raise invalid("annotation lines start at 1, and end where they start or later")
    if annotation["path"].startswith("/") or not annotation["path"]:
        raise invalid("annotation path is not relative to the repository")


def check_status(description: str | None) -> None:
    """Refuse a description that is too long."""
    if description is not None and len(description) > STATUS_DESCRIPTION:
        raise invalid(f"description is too long (maximum is {STATUS_DESCRIPTION} characters)")
