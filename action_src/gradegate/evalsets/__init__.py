"""Eval sets: found, loaded from three formats, linted with line numbers, fingerprinted."""
