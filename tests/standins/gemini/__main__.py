"""The stand-in as a program: prints its address, serves until it is stopped."""

import argparse
import importlib
import signal

from tests.standins.gemini.faults import IN_TRANSPORT, share_of
from tests.standins.gemini.server import MODELS, GeminiStandin


def main() -> None:
    """Serve with the answers of a function named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answer", help="module:function that takes a body and gives the text")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds a call takes")
    parser.add_argument("--faults", type=float, default=0.0, help="share of calls that fail")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", action="append", default=[])
    given = parser.parse_args()
    module, _, function = given.answer.partition(":")
    standin = GeminiStandin(
        getattr(importlib.import_module(module), function),
        latency=given.latency,
        faults=share_of(given.faults, IN_TRANSPORT),
        models=given.model or MODELS,
        port=given.port,
    )
    with standin:
        print(standin.url, flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
