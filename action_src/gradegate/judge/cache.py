"""Answers in the store: kept as the judge gave them, read anew each time."""

import json

from pydantic import TypeAdapter, ValidationError

from gradegate.ports import Reply, Store

ANSWER = "answer"
"""The kind of unit that an answer is."""

_REPLY = TypeAdapter(Reply)


def stored_reply(store: Store, key: str) -> Reply | None:
    """What was answered to the sample with this key."""
    text = store.get(ANSWER, key)
    if text is None:
        return None
    try:
        return _REPLY.validate_json(text)
    except ValidationError:  # written by a version that kept something else
        return None


def store_reply(store: Store, key: str, reply: Reply) -> None:
    """Keep an answer, over one that cannot be read."""
    if store.get(ANSWER, key) is not None:
        store.forget(ANSWER, [key])
    store.put(ANSWER, key, json.dumps(reply._asdict()))


def forget_replies(store: Store, keys: list[str]) -> None:
    """Drop answers that the next run should ask for again."""
    store.forget(ANSWER, keys)
