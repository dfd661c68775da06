"""Writes `boschloo.json` anew: `python -m gradegate.compare.stats.tabulate`."""

import json

from gradegate.compare.stats.exact import TABLE, Count, computed

MOST_RUNS = 16
"""As many as confirm a suspect by default."""


def table() -> list[list[list[float]]]:
    """By runs a side, by how many passed on base, by how many fewer passed on head."""
    return [
        [
            [computed(Count(base, runs), Count(head, runs)) for head in range(base)]
            for base in range(1, runs + 1)
        ]
        for runs in range(1, MOST_RUNS + 1)
    ]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in table())
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
