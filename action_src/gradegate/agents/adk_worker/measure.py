"""Users' own metrics, called by the interpreter of the agent's environment.

    python adk_worker/measure.py AGENT [FOLDER …]

AGENT is the agent's folder or module, if there is one; the FOLDERs are where else to import from.
It stands alone as the worker beside it does.
"""

from gradegate_worker.custom_metrics import main  # type: ignore[import-not-found] # found by path

main()
