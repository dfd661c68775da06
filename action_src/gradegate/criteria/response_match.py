"""response_match_score: how many words the answer shares with the expected one (ROUGE-1)."""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, ClassVar

from gradegate.criteria.base.criterion import Turn, TurnCriterion
from gradegate.criteria.base.rouge import rouge
from gradegate.model.result import InvocationResult
from gradegate.ports import Ask, Needs

# Scripts written without spaces between words. In the first group every character is a
# token; in the second a token starts before every character that is not a combining mark.
CHARACTER_SCRIPTS = ((0x4E00, 0x9FFF), (0x3040, 0x30FF), (0xAC00, 0xD7AF))
CLUSTER_SCRIPTS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))


class ResponseMatch(TurnCriterion):
    """ROUGE-1 F-measure of the final response against the expected one, stemmed."""

    name: ClassVar[str] = "response_match_score"
    needs: ClassVar[Needs] = Needs(reference=True)
    summary: ClassVar[str] = "words shared with the expected answer (ROUGE-1)"
    example: ClassVar[dict[str, Any]] = {"threshold": 0.8}

    @classmethod
    def warm_up(cls) -> None:
        """Have rouge-score ready, which brings numpy."""
        _scorer()

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Compare the answers; no judge is asked."""
        del ask
        # A turn without an expected answer scores 0, as it does with google-adk: `gradegate
        # check` names such turns.
        return self.scored(rouge_1(turn.expected.response_text, turn.actual.response_text))


def rouge_1(target: str, prediction: str) -> float:
    """The F-measure of shared words, in any script."""
    return float(_scorer().score(target, prediction)["rouge1"].fmeasure)


@cache
def _scorer() -> Any:
    scorer, tokenizers = rouge()
    stem = lru_cache(maxsize=65_536)(tokenizers.DefaultTokenizer(use_stemmer=True).tokenize)

    class AnyScript:
        def tokenize(self, text: str) -> list[str]:
            return tokens_of(text, stem)

    return scorer.RougeScorer(["rouge1"], tokenizer=AnyScript())


def tokens_of(text: str, stem: Callable[[str], list[str]]) -> list[str]:
    """Cut a text of any script into words; ASCII words are stemmed.

    rouge-score's own tokenizer knows a-z and 0-9 only, so that an answer in Japanese or
    Arabic would always score 0.
    """
    normal = unicodedata.normalize("NFKC", text).lower()
    tokens: list[str] = []
    for word in normal.translate(_SPACED).split():
        tokens.extend(stem(word) if word.isascii() else (word,))
    return tokens


class _Spacing(dict[int, str]):
    """Characters with the breaks around them, each looked up once."""

    def __missing__(self, code: int) -> str:
        self[code] = spaced = _spaced(chr(code))
        return spaced


def _spaced(char: str) -> str:
    if _is_in(char, CHARACTER_SCRIPTS):
        return f" {char} "
    is_mark = unicodedata.category(char).startswith("M")
    if is_mark:
        return char
    if _is_in(char, CLUSTER_SCRIPTS):
        return f" {char}"
    return char if char.isalnum() else " "


def _is_in(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)


_SPACED = _Spacing()
