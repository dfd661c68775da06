"""A server that behaves like Vertex AI's evaluation service, and as much of Google as it needs."""

from tests.standins.vertex.server import KEY, LOCATION, PROJECT, Request, VertexStandin

__all__ = ["KEY", "LOCATION", "PROJECT", "Request", "VertexStandin"]
