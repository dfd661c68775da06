"""Grade the agent, gate the merge: ADK evaluation criteria as a pull-request check."""

__version__ = "0.1.0"
