"""Pairing, tests and the gate: pure functions over plain values."""
