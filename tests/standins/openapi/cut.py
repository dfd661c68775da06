"""Cuts the requests we make out of GitHub's OpenAPI description.

    python tests/standins/openapi/cut.py [FOLDER]

FOLDER is an unpacked npm package @octokit/openapi; without it, npm fetches the newest one.
Only what describes a request is kept: parameters and bodies, with references resolved.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPO = "/repos/{owner}/{repo}"
OPERATIONS = (
    ("get", "/user"),
    ("get", f"{REPO}/issues/{{issue_number}}/comments"),
    ("post", f"{REPO}/issues/{{issue_number}}/comments"),
    ("get", f"{REPO}/issues/comments/{{comment_id}}"),
    ("patch", f"{REPO}/issues/comments/{{comment_id}}"),
    ("delete", f"{REPO}/issues/comments/{{comment_id}}"),
    ("post", f"{REPO}/issues/comments/{{comment_id}}/reactions"),
    ("get", f"{REPO}/issues/{{issue_number}}/events"),
    ("get", f"{REPO}/issues/{{issue_number}}/labels"),
    ("post", f"{REPO}/check-runs"),
    ("get", f"{REPO}/check-runs/{{check_run_id}}"),
    ("patch", f"{REPO}/check-runs/{{check_run_id}}"),
    ("get", f"{REPO}/check-runs/{{check_run_id}}/annotations"),
    ("get", f"{REPO}/commits/{{ref}}/check-runs"),
    ("get", f"{REPO}/commits/{{ref}}/statuses"),
    ("post", f"{REPO}/statuses/{{sha}}"),
    ("get", f"{REPO}/pulls"),
    ("get", f"{REPO}/pulls/{{pull_number}}"),
    ("get", f"{REPO}/commits/{{commit_sha}}/pulls"),
    ("get", f"{REPO}/collaborators/{{username}}/permission"),
    ("get", f"{REPO}/commits"),
    ("get", f"{REPO}/git/commits/{{commit_sha}}"),
    ("post", f"{REPO}/git/commits"),
    ("post", f"{REPO}/git/blobs"),
    ("get", f"{REPO}/git/blobs/{{file_sha}}"),
    ("post", f"{REPO}/git/trees"),
    ("get", f"{REPO}/git/trees/{{tree_sha}}"),
    ("get", f"{REPO}/git/ref/{{ref}}"),
    ("post", f"{REPO}/git/refs"),
    ("patch", f"{REPO}/git/refs/{{ref}}"),
    ("get", f"{REPO}/contents/{{path}}"),
    ("get", f"{REPO}/actions/runs/{{run_id}}"),
    ("post", f"{REPO}/actions/runs/{{run_id}}/rerun"),
)
CUT = Path(__file__).with_name("github.json")
FOR_READERS = frozenset({"description", "summary", "example", "examples", "externalDocs"})


def cut(description: dict[str, Any]) -> dict[str, Any]:
    """The operations in use, each with its parameters and the schema of its body."""
    paths: dict[str, Any] = {}
    for method, path in OPERATIONS:
        operation = description["paths"][path][method]
        parameters = [_slim(parameter, description) for parameter in operation["parameters"]]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        kept = {"parameters": parameters, "body": _slim(body.get("schema"), description)}
        paths.setdefault(path, {})[method] = kept
    info = description["info"]
    return {"title": info["title"], "version": info["version"], "paths": paths}


def _slim(node: Any, description: dict[str, Any], *, names: bool = False) -> Any:
    """Resolve references and drop prose; under `properties` every key is a name to keep."""
    if isinstance(node, list):
        return [_slim(item, description) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _slim(_resolve(node["$ref"], description), description)
    return {
        key: _slim(value, description, names=key == "properties" and not names)
        for key, value in node.items()
        if names or not (key in FOR_READERS or key.startswith("x-"))
    }


def _resolve(reference: str, description: dict[str, Any]) -> Any:
    node: Any = description
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def _download(folder: Path) -> Path:
    subprocess.run(["npm", "pack", "--silent", "@octokit/openapi"], cwd=folder, check=True)
    (archive,) = folder.glob("*.tgz")
    subprocess.run(["tar", "xzf", archive.name], cwd=folder, check=True)
    return folder / "package"


def main() -> None:
    """Write the cut beside this script."""
    with tempfile.TemporaryDirectory() as temporary:
        package = Path(sys.argv[1]) if sys.argv[1:] else _download(Path(temporary))
        description = json.loads((package / "generated" / "api.github.com.json").read_text())
    CUT.write_text(json.dumps(cut(description), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
