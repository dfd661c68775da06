"""rouge-score with only the stemmer of nltk: the same scores, and nobody else notices."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[4]

SAME_SCORES = """
import sys
from itertools import product
from random import Random
from gradegate.criteria.base.rouge import rouge
from tests.parity import scripts

ours = rouge()
assert not [name for name in sys.modules if name.startswith(("nltk", "rouge_score", "scipy"))]

import nltk
from rouge_score import rouge_scorer, tokenizers
assert rouge_scorer is not ours.scorer
assert rouge_scorer.nltk is nltk
assert nltk.stem.porter.PorterStemmer is tokenizers.porter.PorterStemmer
assert callable(nltk.sent_tokenize)
assert rouge() is ours

plain = tokenizers.DefaultTokenizer(use_stemmer=True).tokenize
light = ours.tokenizers.DefaultTokenizer(use_stemmer=True).tokenize
roots = "fly hop relat agre feed condition plaster conflat siz fall hiss fail happi sky".split()
ends = "s sses ies eed ed ing ational tional enci izer iviti biliti icate ness ement ion e".split()
words = ["".join(pair) for pair in product(roots, ["", *ends])] + ["dying", "skies", "a", "3rd"]
assert [plain(word) for word in words] == [light(word) for word in words]
assert sum(plain(word) != [word] for word in words) > 100

draw = Random(4)
texts = [" ".join(draw.choices(words, k=draw.randint(0, 30))) for _ in range(1000)]
texts += [scripts.text(draw, script) for script in scripts.WORDS for _ in range(20)]
pairs = [(text, scripts.slightly_other(draw, text)) for text in texts]
pairs += zip(texts, draw.sample(texts, len(texts)), strict=True)
theirs = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
mine = ours.scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
found = [tuple(mine.score(*pair).values()) for pair in pairs]
assert found == [tuple(theirs.score(*pair).values()) for pair in pairs]
assert len({one.fmeasure for one, _ in found}) > 100
"""


def test_scores_are_those_of_the_plain_import() -> None:
    """And a plain import afterwards gets the whole of nltk."""
    run(SAME_SCORES)


STEMMER = """
class PorterStemmer:
    def stem(self, word):
        return {"flying": "fli", "reservations": "reserv"}.get(word, word)
"""
"""Knows as much as shows that it works."""

WHOLE = {
    "nltk/__init__.py": "from nltk import stem\nWHOLE = True",
    "nltk/stem/__init__.py": "from nltk.stem import porter",
    "nltk/stem/porter.py": STEMMER,
}

LAYOUTS = {
    "made by its package": {
        "nltk/__init__.py": "",
        "nltk/stem/__init__.py": "from nltk import kept as porter",
        "nltk/kept.py": STEMMER,
    },
    "one module": {
        "nltk/__init__.py": "",
        "nltk/stem.py": f"class porter:\n{STEMMER.replace(chr(10), chr(10) + '    ')}",
    },
    "in need of its package": {
        "nltk/__init__.py": "STEPS = 5",
        "nltk/stem/__init__.py": "",
        "nltk/stem/porter.py": f"from nltk import STEPS\n{STEMMER}",
    },
    "stems nothing without its package": {
        "nltk/__init__.py": "def stemming(made): return made",
        "nltk/stem/__init__.py": "",
        "nltk/stem/porter.py": f"""
import nltk
{STEMMER}
if not hasattr(nltk, "stemming"):
    PorterStemmer.stem = lambda self, word: word
""",
    },
}

FALLS_BACK = """
import sys
from gradegate.criteria.base.rouge import rouge

found = rouge()
assert found.tokenizers is sys.modules["rouge_score.tokenizers"]
assert found.tokenizers.porter is sys.modules["nltk"].stem.porter
assert found.tokenizers.DefaultTokenizer(use_stemmer=True).tokenize("flying") == ["fli"]
"""


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_another_layout_of_nltk_is_imported_as_usual(
    layout: Mapping[str, str], tmp_path: Path
) -> None:
    """Slower, and as good."""
    run(FALLS_BACK, lay_out(layout, tmp_path))


def test_the_layout_of_these_tests_is_not_what_falls_back(tmp_path: Path) -> None:
    """A small nltk that is laid out as the real one is loaded lightly."""
    code = """
    import sys
    from gradegate.criteria.base.rouge import rouge

    assert rouge().tokenizers.DefaultTokenizer(use_stemmer=True).tokenize("flying") == ["fli"]
    assert "nltk" not in sys.modules
    """
    run(code, lay_out(WHOLE, tmp_path))


def test_what_is_imported_already_is_used(tmp_path: Path) -> None:
    """Whoever runs us in a process with nltk has one nltk."""
    run(f"import nltk\n{FALLS_BACK}", lay_out(WHOLE, tmp_path))


MEANWHILE = """
import gate
import sys
from concurrent.futures import ThreadPoolExecutor
from gradegate.criteria.base.rouge import rouge

with ThreadPoolExecutor(9) as pool:
    first = pool.submit(gate.marked, rouge)
    assert gate.reached.wait(60)
    others = [pool.submit(rouge) for _ in range(8)]
    import nltk
    assert nltk.WHOLE
    assert nltk.stem.porter is sys.modules["nltk.stem.porter"]
    gate.opened.set()
    assert {id(one.result()) for one in others} == {id(first.result())}
assert first.result().tokenizers.porter is not nltk.stem.porter
assert sys.modules["nltk"] is nltk
"""

GATE = """
import threading

reached, opened, here = threading.Event(), threading.Event(), threading.local()

def marked(call):
    here.marked = True
    return call()

def pause():
    if getattr(here, "marked", False):
        reached.set()
        assert opened.wait(60)
"""


def test_other_threads_see_nothing_of_it(tmp_path: Path) -> None:
    """While it is being loaded, an import elsewhere gets the whole of nltk."""
    slow = {"gate.py": GATE, "nltk/stem/porter.py": f"import gate\ngate.pause()\n{STEMMER}"}
    run(MEANWHILE, lay_out({**WHOLE, **slow}, tmp_path))


def lay_out(files: Mapping[str, str], folder: Path) -> Path:
    """Python files in a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(code: str, first: Path = ROOT) -> None:
    """In a process of its own, with this folder before all others."""
    start = f"import sys\nsys.path.insert(0, {str(first)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", start + dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
