"""scipy's functions without its package: the same ones, and nobody else notices."""

import subprocess
import sys
from pathlib import Path

LIGHT = """
import sys
from gradegate.compare.stats.special import WANTED, special

found = special()
assert "scipy.special" not in sys.modules
assert not [name for name in sys.modules if name.startswith(("scipy.stats", "scipy.linalg"))]
import scipy.special
assert all(getattr(found, name) is getattr(scipy.special, name) for name in WANTED)
assert scipy.special.comb(5, 2) == 10
from scipy.stats import norm
assert abs(norm.cdf(1.5) - found.ndtr(1.5)) < 1e-15
assert special() is found
"""
ALREADY = """
import scipy.special
from gradegate.compare.stats.special import special

assert special() is scipy.special
"""
ELSEWHERE = """
import sys
from gradegate.compare.stats.special import special

assert special() is sys.modules["scipy.special"]
assert special().ndtr(0) == 0.5
"""
LACKING = "bdtr = ndtri = stdtrit = None"


def test_the_functions_are_scipys_own() -> None:
    """And a plain import afterwards gets the whole package."""
    run(LIGHT)


def test_what_is_imported_already_is_used() -> None:
    """Nothing is taken away from whoever has it."""
    run(ALREADY)


def test_another_layout_of_scipy_is_imported_as_usual(tmp_path: Path) -> None:
    """Whether the compiled module is gone or has lost a function."""
    package = tmp_path / "scipy" / "special"
    package.mkdir(parents=True)
    (tmp_path / "scipy" / "__init__.py").touch()
    (package / "__init__.py").write_text(f"{LACKING}\ndef ndtr(x): return 0.5")
    run(ELSEWHERE, tmp_path)
    (package / "_ufuncs.py").write_text(LACKING)
    run(ELSEWHERE, tmp_path)


def run(code: str, *first: Path) -> None:
    """In a process of its own, with these folders before all others."""
    start = f"import sys\nsys.path[:0] = {[str(folder) for folder in first]}\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
