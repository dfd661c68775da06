"""The one place that builds what touches the outside world.

Adapters are imported where they are wanted: most jobs take few of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from gradegate.files.credentials import known_secrets
from gradegate.judge.client import JudgeClient
from gradegate.judge.discreet import DiscreetProvider
from gradegate.judge.providers.router import open_router
from gradegate.model.masking import SecretMasker
from gradegate.model.posting import Audience
from gradegate.model.runs import Traces
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.services import AgentFactory, Services
from gradegate.ports import Forge, HistoryStore, Judge, Machine, Store
from gradegate.progress import ProgressLine
from gradegate.store.sqlite import SqliteStore
from gradegate.store.sqlite_history import SqliteHistory

STORE_FILE = Path("store", "gradegate.sqlite")
"""In a folder of its own, closed to agents; environments beside it are open to them."""
RUNNER_FOLDER = ".gradegate"


@contextmanager
def services(machine: Machine, store: Path, *, fresh: bool = False) -> Iterator[Services]:
    """The outside world, with progress on standard error and the store open.

    `fresh`: nothing that is stored is used but the history, which is added to.
    """
    _put_back(machine)
    with ProgressLine() as line, SqliteStore(store) as opened:
        units = memory_store() if fresh else opened

        def judge(settings: JudgeSettings, folders: Sequence[Path], secrets: SecretMasker) -> Judge:
            # Recorded answers are not kept among those of models.
            kept = units if machine.answers is None else memory_store()
            provider = DiscreetProvider(open_router(machine, folders, settings), secrets)
            return JudgeClient(provider, kept, settings, progress=line.asked)

        yield Services(
            store=units,
            history=SqliteHistory(opened),
            is_fresh=fresh,
            judge=judge,
            agents=lambda: _agents(machine),
            now=datetime.now(UTC),
            masker=known_secrets(machine.environ),
            progress=line.runs,
        )


@contextmanager
def open_history(store: Path) -> Iterator[HistoryStore]:
    """What base did in earlier jobs, without anything else of the outside."""
    with SqliteStore(store) as opened:
        yield SqliteHistory(opened)


def forge(environ: Mapping[str, str], token: SecretStr, audience: Audience) -> Forge:
    """GitHub, as this job's token sees it."""
    from gradegate.forges.github.forge import GitHubForge, ReadOnlyForge

    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    repository = environ.get("GITHUB_REPOSITORY", "")
    run_id = environ.get("GITHUB_RUN_ID")
    made = GitHubForge if audience.may_write else ReadOnlyForge
    return made(
        token.get_secret_value(),
        environ.get("GITHUB_API_URL", "https://api.github.com"),
        repository,
        audience.check_name,
        f"{server}/{repository}/actions/runs/{run_id}" if run_id else None,
        external_id=run_id,
    )


def recorded_agents(traces: Traces, source: str) -> AgentFactory:
    """Agents that play these recordings back."""
    from gradegate.agents.recorded import RecordedAgents

    return RecordedAgents(traces, source)


def open_store(path: Path) -> AbstractContextManager[Store]:
    """The store alone, for what asks and runs nothing."""
    return SqliteStore(path)


def memory_store() -> Store:
    """A store that is gone with us."""
    return SqliteStore.in_memory()


def store_path(environ: Mapping[str, str], given: str | None) -> Path:
    """Where finished units are kept: as asked, under the runner's workspace, or the cache."""
    return Path(given) if given else cache_folder(environ) / STORE_FILE


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Our folder for what may be lost: on a runner in the workspace, for actions/cache."""
    if environ.get("GITHUB_ACTIONS") and (workspace := environ.get("GITHUB_WORKSPACE")):
        return Path(workspace) / RUNNER_FOLDER
    if xdg := environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "gradegate"
    from platformdirs import user_cache_path

    return user_cache_path("gradegate")


def _put_back(machine: Machine) -> None:
    """Have the modes as they were that a run which was killed did not put back."""
    from gradegate.agents.hidden import put_back, record_folder

    put_back(record_folder(machine.repository, machine.cache))


def _agents(machine: Machine) -> AgentFactory:
    from gradegate.agents.factory import SandboxedAgents

    return SandboxedAgents(machine)
