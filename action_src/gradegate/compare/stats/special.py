"""Four special functions of scipy, without the rest of its package.

`import scipy.special` imports a dozen modules around one compiled one, and takes many times as
long. So the package is left empty for the moment in which that one is imported, and taken back at
once: `import scipy.special` then gets all of it, with these very functions. Where it is imported
already, or is laid out otherwise, they come from there.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

PACKAGE = "scipy.special"
WANTED = ("bdtr", "ndtr", "ndtri", "stdtrit")


@cache
def special() -> Any:
    """What has them. For one thread: while it is being loaded nobody else may import scipy."""
    found = None if PACKAGE in sys.modules else _compiled()
    return found or import_module(PACKAGE)


def _compiled() -> Any:
    """The compiled module; None where it is not where we look, or has not got them."""
    spec = find_spec(PACKAGE)
    if spec is None:
        return None
    sys.modules[PACKAGE] = module_from_spec(spec)
    try:
        found = import_module(f"{PACKAGE}._ufuncs")
    except ImportError:
        return None
    finally:
        del sys.modules[PACKAGE]
    return found if all(hasattr(found, name) for name in WANTED) else None
