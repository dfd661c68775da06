"""An agent of every kind."""

from . import agent

__all__ = ["agent"]
