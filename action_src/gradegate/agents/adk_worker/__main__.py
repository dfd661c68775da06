"""An ADK agent behind the line protocol, run by the interpreter of the agent's environment.

    python adk_worker AGENT [FOLDER …]

AGENT is an agent's folder or module; the FOLDERs are where else the agent's imports may look.

This folder is started by path and stands alone: it needs the standard library and google-adk,
and nothing of ours, because nothing of ours is installed where it runs. Python 3.10 does.
"""

from gradegate_worker.protocol import main  # type: ignore[import-not-found] # found by path

main()
