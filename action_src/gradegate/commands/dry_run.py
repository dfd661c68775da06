"""`gradegate run --dry-run`: what a run would do and ask, without doing or asking it."""

from pathlib import Path

from gradegate.app import Task
from gradegate.wiring import Outside


def dry_run(task: Task, outside: Outside, store: Path) -> int:
    """Print the cases, runs and judge calls that a cold run would come to."""
    raise NotImplementedError(task, outside, store)
