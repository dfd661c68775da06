"""Runners of agents: recorded traces, and any program that speaks the line protocol."""
