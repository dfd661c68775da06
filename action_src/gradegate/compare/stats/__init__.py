"""The statistics: exact tests and permutations."""
