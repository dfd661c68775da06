"""rouge-score without the rest of nltk.

rouge-score uses one stemmer of nltk, but `import nltk` imports all that nltk has, and with it
scipy.stats: many times the time that the scores take. So nltk's packages are left empty here, and
only the modules that rouge-score asks for are run. They are ours alone: `sys.modules` never shows
them, and whoever imports nltk, before, after or meanwhile in another thread, gets all of it.

Where nltk is imported already, or is laid out so that this does not work, rouge-score is imported
as usual: slower, and with the same scores.
"""

import builtins
import importlib
import logging
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

EMPTY = ("nltk", "nltk.stem")
"""Packages whose own code is not run: it imports everything below them."""
OURS = ("nltk", "rouge_score")
ABSL = SimpleNamespace(logging=logging)
"""rouge-score tells absl's log of one thing, as it would any other."""

_lock = Lock()
_loaded: list["Rouge"] = []


class Rouge(NamedTuple):
    """What we use of rouge-score."""

    scorer: Any
    """rouge_score.rouge_scorer"""
    tokenizers: Any
    """rouge_score.tokenizers"""


def rouge() -> Rouge:
    """rouge-score, loaded once."""
    with _lock:
        if not _loaded:
            _loaded.append(_usual() if "nltk" in sys.modules else _light() or _usual())
        return _loaded[0]


def _usual() -> Rouge:
    return Rouge(
        importlib.import_module("rouge_score.rouge_scorer"),
        importlib.import_module("rouge_score.tokenizers"),
    )


def _light() -> Rouge | None:
    """Only what is needed; None where that cannot be had, or does not stem."""
    shelf = _Shelf()
    try:
        found = Rouge(
            shelf.module("rouge_score.rouge_scorer"), shelf.module("rouge_score.tokenizers")
        )
        stems = found.tokenizers.DefaultTokenizer(use_stemmer=True).tokenize("flying reservations")
        same = found.scorer.RougeScorer(["rouge1"]).score("to fly", "to fly")["rouge1"].fmeasure
    except Exception:  # noqa: BLE001 - whatever it is, the usual way will tell
        return None
    return found if (stems, same) == (["fli", "reserv"], 1.0) else None


class _Shelf:
    """Modules of OURS, found where they are installed and kept apart from everyone else's."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """The module of this name, with its packages above it."""
        if name not in self._modules:
            above, _, last = name.rpartition(".")
            spec = self._spec_below(self.module(above), last) if above else find_spec(name)
            if spec is None or spec.loader is None:
                raise ImportError(name)
            self._modules[name] = made = module_from_spec(spec)
            made.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            if name not in EMPTY:
                spec.loader.exec_module(made)
            if above:
                setattr(self._modules[above], last, made)
        return self._modules[name]

    def _spec_below(self, package: ModuleType, last: str) -> ModuleSpec | None:
        """Found by its file: the usual way would import the package."""
        for folder in map(Path, package.__path__):
            for file in (folder / last / "__init__.py", folder / f"{last}.py"):
                if file.is_file():
                    return spec_from_file_location(f"{package.__name__}.{last}", file)
        return None

    def _import(
        self,
        name: str,
        globals: Any = None,  # noqa: A002 - likewise
        locals: Any = None,  # noqa: A002 - likewise
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        """What the `import` statements of these modules do."""
        if name == "absl" and fromlist == ("logging",):
            return ABSL
        top = name.partition(".")[0]
        if level or top not in OURS:
            return builtins.__import__(name, globals, locals, fromlist, level)
        found = self.module(name)
        for each in fromlist or ():
            if not hasattr(found, each):
                self.module(f"{name}.{each}")
        return found if fromlist else self.module(top)
