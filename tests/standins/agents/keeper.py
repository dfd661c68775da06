"""A program that keeps what it said: in memory, and in files of its home and temporary folder.

Asked something new it answers with its pid and a number drawn by chance.
"""

import json
import os
import random
import sys
import tempfile
from pathlib import Path

said: dict[str, str] = {}


def answer(question: str) -> str:
    """What it said before, wherever it kept that."""
    files = [Path(place) / question for place in (Path.home(), tempfile.gettempdir())]
    for file in files:
        if file.is_file():
            return file.read_text(encoding="utf-8")
    if question not in said:
        said[question] = f"{os.getpid()} {random.getrandbits(64)}"
        for file in files:
            file.write_text(said[question], encoding="utf-8")
    return said[question]


for line in sys.stdin:
    request = json.loads(line)
    reply = {"session": request["session"], "ok": True}
    if request["op"] == "turn":
        text = answer(request["user_content"]["parts"][0]["text"])
        reply["invocation"] = {"final_response": {"parts": [{"text": text}]}}
    print(json.dumps(reply), flush=True)
