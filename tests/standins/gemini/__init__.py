"""A server that behaves like the Gemini API: answers, refuses, stalls and breaks on demand."""

from tests.standins.gemini.faults import Fault, always, share_of
from tests.standins.gemini.server import GeminiStandin, Request, prompt_of

__all__ = ["Fault", "GeminiStandin", "Request", "always", "prompt_of", "share_of"]
