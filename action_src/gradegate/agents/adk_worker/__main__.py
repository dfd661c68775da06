"""An ADK agent behind the line protocol, run by the interpreter of the agent's environment.

    python adk_worker agent AGENT [FOLDER …]
    python adk_worker metrics AGENT [FOLDER …]

AGENT is an agent's folder or module; the FOLDERs are where else the agent's imports may look. With
`metrics` it calls users' own metrics in place of the agent.

This folder is started by path and stands alone: it needs the standard library and google-adk,
and nothing of ours, because nothing of ours is installed where it runs. Python 3.10 does.
"""

import sys

if sys.argv.pop(1) == "metrics":
    from gradegate_worker.custom_metrics import main  # type: ignore[import-not-found] # by path
else:
    from gradegate_worker.protocol import main  # type: ignore[import-not-found] # by path

main()
