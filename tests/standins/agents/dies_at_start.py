"""A line-protocol agent that ends before it reads anything, and keeps count of its starts."""

import sys
from pathlib import Path

with Path("starts").open("a") as starts:
    starts.write("x")
sys.exit("ModuleNotFoundError: No module named 'weather'")
