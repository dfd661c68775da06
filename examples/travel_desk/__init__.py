"""A travel desk: weather, flights, and a clerk who pays refunds."""

from . import agent

__all__ = ["agent"]
