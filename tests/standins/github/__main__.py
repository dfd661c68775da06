"""The stand-in as a program: prints its URL, then serves until it is told to stop.

    python -m tests.standins.github --port 8080 --repository octo/agents

Tokens are those of `model`; what is on it is set up and read under /_standin/ (see `control`).
"""

import argparse
import signal

from tests.standins.github.standin import GitHubStandIn


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.standins.github")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--repository", default="octo/agents")
    parser.add_argument("--prefix", default="", help="/api/v3 for an enterprise server")
    options = parser.parse_args()
    stop = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with GitHubStandIn(
        options.repository, host=options.host, port=options.port, prefix=options.prefix
    ) as github:
        print(github.url, flush=True)
        signal.sigwait(stop)


if __name__ == "__main__":
    main()
