"""The evaluation in order: prepare, run, compare, decide, report."""
