"""Texts in many scripts, and what an agent may have answered instead."""

import json
import unicodedata
from pathlib import Path
from random import Random

WORDS: dict[str, list[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
"""Words by script, chosen for what tokenizers trip over."""

RANGES = (
    (0x0020, 0x024F),
    (0x0300, 0x052F),
    (0x0590, 0x06FF),
    (0x0900, 0x0DFF),
    (0x0E00, 0x0EFF),
    (0x1000, 0x11FF),
    (0x1780, 0x18AF),
    (0x2000, 0x206F),
    (0x2460, 0x24FF),
    (0x3000, 0x31FF),
    (0x4DF0, 0x4E20),
    (0x9FF0, 0xA010),
    (0xABF0, 0xAC10),
    (0xD7A0, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFB00, 0xFFEF),
    (0x1F300, 0x1F6FF),
    (0x20000, 0x20020),
)
"""Blocks around every border that the tokenizer draws, assigned or not."""


def text(draw: Random, script: str) -> str:
    """A sentence of one script, or of several for the script `Mixed`."""
    words = (
        [word for each in WORDS.values() for word in each] if script == "Mixed" else WORDS[script]
    )
    chosen = [draw.choice(words) for _ in range(draw.randint(0, 12))]
    return draw.choice(("", " ", " ", ", ", "\n")).join(chosen)


def characters(draw: Random) -> str:
    """Characters from anywhere, few enough kinds that two texts share some."""
    blocks = draw.sample(RANGES, 2)
    return "".join(chr(draw.randint(*draw.choice(blocks))) for _ in range(draw.randint(0, 60)))


def slightly_other(draw: Random, expected: str) -> str:
    """The expected text after what agents and keyboards do to it."""
    made = expected
    for _ in range(draw.choice((0, 1, 2, 3))):
        match draw.choice(("shuffled", "cut", "normal form", "case", "longer", "spaced")):
            case "shuffled":
                words = made.split()
                draw.shuffle(words)
                made = " ".join(words)
            case "cut":
                made = made[draw.randint(0, 3) : len(made) - draw.randint(0, 5)]
            case "normal form":
                made = unicodedata.normalize(draw.choice(("NFC", "NFD", "NFKC", "NFKD")), made)
            case "case":
                made = draw.choice((made.upper(), made.lower(), made.title()))
            case "longer":
                made += " " + text(draw, draw.choice(tuple(WORDS)))
            case "spaced":
                made = " ".join(made)
    return made
