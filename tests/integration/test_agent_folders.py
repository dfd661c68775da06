"""Whose `.env` may name Google's project: that of base's agent, where there is a base."""

from pathlib import Path

from gradegate.judge.providers.vertex import VertexAccess
from gradegate.pipeline.prepare import EvaluationRequest, prepare
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import Repo
from tests.project import Project, case, eval_set, turn

SETTINGS = '[[suite]]\nname = "weather"\nagent = "agents/weather"\nevals = ["evals/*.json"]\n'
DOTENV = "GOOGLE_CLOUD_PROJECT={}\nGOOGLE_CLOUD_LOCATION=us-central1\nGOOGLE_API_KEY=k\n"


def project_seen(root: Path, base: str | None) -> object:
    """Whose project is meant when head's agent names another than base's."""
    project = Project.create(root)
    project.put("gradegate.toml", SETTINGS)
    project.put("agents/weather/agent.py", "root_agent = None\n")
    project.put("agents/weather/.env", DOTENV.format("of-base"))
    project.put("evals/basic.evalset.json", eval_set(case("c", turn("hello", "Hello."))))
    project.commit("base")
    project.git("checkout", "-q", "-b", "pull-request")
    project.put("agents/weather/.env", DOTENV.format("of-head"))
    project.commit("head")
    request = EvaluationRequest(
        Repo.open(root, project.environ), Revisions(head="pull-request", base=base)
    )
    with prepare(request) as prepared:
        return VertexAccess.from_environ({}, prepared.agent_folders)


def test_bases_file_counts_where_there_is_a_base(tmp_path: Path) -> None:
    """A pull request cannot send its answers to a project of its own."""
    seen = project_seen(tmp_path / "repo", "main")
    assert seen == VertexAccess(project="of-base", location="us-central1")


def test_heads_file_counts_where_there_is_none(tmp_path: Path) -> None:
    """As in a first run."""
    seen = project_seen(tmp_path / "repo", "none")
    assert seen == VertexAccess(project="of-head", location="us-central1")
