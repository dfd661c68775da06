"""A line-protocol agent that takes one message after the other; `wait N` takes N seconds."""

import json
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    answer: dict[str, object] = {"session": message["session"], "ok": True}
    if message["op"] == "turn":
        text = message["user_content"]["parts"][0]["text"]
        time.sleep(float(text.removeprefix("wait ")))
        answer = {
            "session": message["session"],
            "invocation": {"final_response": {"parts": [{"text": text}]}},
        }
    print(json.dumps(answer), flush=True)
