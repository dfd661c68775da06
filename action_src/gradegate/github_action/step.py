"""This step of a workflow: its inputs, our files in its workspace, and what the runner reads.

The container is root, the steps around it are not: a cache or an upload must be able to read
what we leave. And the workspace is the pull request's checkout: a store, an environment or a
link that it brought along would speak for itself.
"""

import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gradegate.files.credentials import known_secrets
from gradegate.github_action.inputs import Inputs, Mode
from gradegate.model.errors import InputError
from gradegate.model.masking import SecretMasker
from gradegate.model.posting import Posted, Skipped
from gradegate.model.report import Report
from gradegate.model.settings import ReportSettings
from gradegate.ports import Machine
from gradegate.report.links import Links
from gradegate.report.render import ViewOptions, Views
from gradegate.report.tally import tally_of
from gradegate.sides.git import Repo

SUMMARY_LIMIT = 1024 * 1024

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_OUTPUT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")

# The runner may compare as a language does, which overlooks invisible characters:
# only visible ASCII is sure to keep two signs apart.
_COMMAND = re.compile(r"^([^!-~\n]*:[^!-~\n]*):", re.MULTILINE)
_OLD_COMMAND = re.compile(r"(#[^!-~\n]*#[^!-~\n]*)\[")


def write_outputs(path: Path, outputs: Mapping[str, str]) -> None:
    """Append the step's outputs to the file that GITHUB_OUTPUT names."""
    entries = [
        output_entry(name, value, f"gradegate_{secrets.token_hex(16)}")
        for name, value in outputs.items()
    ]
    _append(path, "".join(entries))


def output_entry(name: str, value: str, delimiter: str) -> str:
    """One output as the runner reads it; nothing in the value can end it early."""
    if not _OUTPUT_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for an output")
    if delimiter in value:
        raise ValueError(f"the output {name!r} contains its own delimiter")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def append_summary(path: Path, markdown: str) -> None:
    """Append to the file that GITHUB_STEP_SUMMARY names; the caller keeps it below 1 MiB."""
    present = path.stat().st_size if path.exists() else 0
    size = present + len(markdown.encode(errors="backslashreplace"))
    if size >= SUMMARY_LIMIT:
        raise ValueError(f"a summary of {size} bytes: GitHub drops it from {SUMMARY_LIMIT} on")
    _append(path, markdown)


def mask(secret_values: Iterable[str]) -> list[str]:
    """The log lines that make the runner hide these values from here on."""
    return [f"::add-mask::{_escape(value)}" for value in secret_values if value.strip()]


def neutralise(text: str) -> str:
    """Untrusted text for the log: no line of it can be read as a workflow command."""
    one_kind_of_line = _CONTROLS.sub("\ufffd", _LINE_ENDS.sub("\n", text))
    printable = one_kind_of_line.encode(errors="backslashreplace").decode()
    return _OLD_COMMAND.sub(r"\1 [", _COMMAND.sub(r"\1 :", printable))


def _escape(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)


_OPEN = 0o755
"""Others may pass through: agents to their environments, later steps to the report."""


REPORT_FILE = "report.json"


@dataclass(frozen=True)
class WorkflowStep:
    """One step of a workflow."""

    environ: Mapping[str, str]
    inputs: Inputs
    cache: Path
    """Our folder in the workspace."""
    store: Path

    @property
    def workspace(self) -> Path:
        """Where the repository was checked out."""
        return Path(self.environ.get("GITHUB_WORKSPACE") or ".")

    @property
    def report_folder(self) -> Path:
        """Where the report's files go."""
        return self.workspace / self.inputs.report_dir

    @property
    def shards_folder(self) -> Path:
        """Where the files of the shards were downloaded to."""
        return self.workspace / self.inputs.shards_dir

    @cached_property
    def secrets(self) -> SecretMasker:
        """The values that nothing of ours may show."""
        return known_secrets(self.environ)

    def _in_outputs(self, path: Path) -> Path:
        """As later steps find it: the workspace has another path outside the container."""
        path = Path(os.path.normpath(path.absolute()))
        top = Path(os.path.normpath(self.workspace.absolute()))
        return path.relative_to(top) if path.is_relative_to(top) else path

    @property
    def files(self) -> "WorkspaceFiles":
        """What we keep in the workspace."""
        return WorkspaceFiles(
            self.workspace, self.cache, self.report_folder, self.store, self.shards_folder
        )

    def machine(self, repo: Repo) -> Machine:
        """The runner we are on."""
        return Machine(environ=self.environ, repository=repo.top, cache=self.cache)

    def view_options(self, settings: ReportSettings | None = None, commit: str = "") -> ViewOptions:
        """How the report is shown; `commit` is whose files it leads to."""
        language = self.inputs.language or (settings or ReportSettings()).language
        folder = self.inputs.working_directory
        return ViewOptions(language, self.inputs.check_name, folder, self._links(commit))

    def _links(self, commit: str) -> Links:
        server, repository, run = (
            self.environ.get(f"GITHUB_{name}", "")
            for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")
        )
        top = f"{server.rstrip('/')}/{repository}" if server and repository else ""
        known = top and _COMMIT.fullmatch(commit)
        return Links(
            report=self.inputs.report_url or "",
            run=f"{top}/actions/runs/{run}" if top and run.isdecimal() else "",
            files=f"{top}/blob/{commit}" if known else "",
            folder=self.inputs.working_directory,
        )

    def repository(self) -> Repo:
        """The repository in the workspace."""
        return Repo.open(self.workspace, self.environ)

    def checkout(self) -> Repo:
        """The same, which must not have brought along what only we may write."""
        repo = self.repository()
        self.files.refuse_foreign(repo)
        return repo

    def say(self, text: str) -> None:
        """A line for the log; whatever it quotes cannot be read as a command."""
        sys.stderr.write(f"{neutralise(text)}\n")

    def warn(self, text: str) -> None:
        """A warning that GitHub shows on the page of the workflow's run as well."""
        sys.stdout.write(f"::warning title=gradegate::{_escape(neutralise(text))}\n")
        sys.stdout.flush()

    def tell(self, outcome: Posted | Skipped) -> str:
        """The address of what was posted; what was not is told in the log."""
        if isinstance(outcome, Posted):
            if outcome.warning:
                self.warn(outcome.warning)
            return outcome.url
        if outcome.needs:
            self.warn(
                f"not posted: {outcome.reason}: add `{outcome.needs}` under the job's "
                "`permissions:` in the workflow"
            )
        elif outcome.reason:
            self.say(f"gradegate: not posted: {outcome.reason}")
        return ""

    def mask_secrets(self) -> None:
        """Have the runner hide every value that looks like a secret from the log, in all steps.

        Of one with several lines the telling ones: it would hide each line by itself, and then
        `{` and `"type": "service_account"` wherever they stand.
        """
        runner = sys.__stdout__ or sys.stdout  # our own says no secrets
        for line in mask(value for value in self.secrets if len(value.splitlines()) == 1):
            runner.write(f"{line}\n")
        runner.flush()

    def finish(self, report: Report, views: Views, urls: Mapping[str, str]) -> None:
        """Outputs, step summary and log, as rendered."""
        merged = {"confirm-matrix": "[]"} if self.inputs.mode is Mode.MERGE else {}
        written = outputs_of(report, self._in_outputs(self.report_folder))
        self._write_outputs({**written, **merged, **urls})
        self.append_summary(views.summary)
        self.say(views.text)

    def finish_again(self, report: Report, urls: Mapping[str, str]) -> None:
        """Outputs alone: summary and log have the report already."""
        self._write_outputs({**outputs_of(report, self._in_outputs(self.report_folder)), **urls})

    def finish_shard(self, file: Path) -> None:
        """The one output of a shard: what a later step uploads."""
        self._write_outputs({"shard": str(self._in_outputs(file))})

    def ask_for(self, matrix: str) -> None:
        """The one output of a merge that leaves what it wants to other jobs."""
        self._write_outputs({"confirm-matrix": matrix})

    def _write_outputs(self, outputs: Mapping[str, str]) -> None:
        if path := self.environ.get("GITHUB_OUTPUT"):
            write_outputs(Path(path), outputs)

    def append_summary(self, markdown: str) -> None:
        """Add to the summary on the page of the workflow's run."""
        if path := self.environ.get("GITHUB_STEP_SUMMARY"):
            append_summary(Path(path), markdown)


def outputs_of(report: Report, folder: Path) -> dict[str, str]:
    """The step's outputs, but for addresses; counts are of cases, as in the headline."""
    tally = tally_of(report)
    return {
        "decision": report.decision.state.value,
        "regressions": str(tally.regressions),
        "improvements": str(tally.improvements),
        "report": str(folder / REPORT_FILE),
        "html": str(folder / "report.html"),
    }


@dataclass(frozen=True)
class WorkspaceFiles:
    """Our folder in the workspace, and what a workflow may have put elsewhere in it."""

    workspace: Path
    folder: Path
    report: Path
    store: Path
    shards: Path

    @property
    def places(self) -> tuple[Path, ...]:
        """All of them that lie in the workspace."""
        all_of_them = (self.folder, self.report, self.store, self.shards)
        return tuple(place for place in all_of_them if self._below(place) is not None)

    def refuse_foreign(self, repo: Repo) -> None:
        """See that no commit has files where our own things go.

        Raises:
            InputError: it has; the message says which.
        """
        for place in self.places:
            path = f":(literal){os.path.normpath(place.absolute())}"
            tracked = repo.git.must("ls-files", "-z", "--", path).paths
            if tracked:
                raise _foreign(tracked[0])

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have our folder, and leave everything to the workspace's owner at the end.

        Raises:
            InputError: a link stands where our things go, and would lead them elsewhere.
        """
        for place in self.places:
            for path in (place, *place.parents):
                if self._below(path) and path.is_symlink():
                    raise _foreign(str(self._below(path)))
        self.folder.mkdir(mode=_OPEN, parents=True, exist_ok=True)
        try:
            yield
        finally:
            owner = self.workspace.stat()
            if os.geteuid() == 0 and owner.st_uid != 0:
                for place in self.places:
                    self._give_back(place, owner)

    def _below(self, place: Path) -> Path | None:
        """The path within the workspace as it is written, links not followed."""
        path, top = (Path(os.path.normpath(p.absolute())) for p in (place, self.workspace))
        return path.relative_to(top) if path != top and path.is_relative_to(top) else None

    def _give_back(self, place: Path, owner: os.stat_result) -> None:
        beside = place.parent.glob(f"{place.name}*") if place == self.store else [place]
        above = [folder for folder in place.parents if self._below(folder)]
        for path in (*beside, *above):
            _chown(path, owner)
        for folder, folders, files in os.walk(place):
            for name in (*folders, *files):
                _chown(Path(folder, name), owner)


def _foreign(name: str) -> InputError:
    return InputError(
        f"the repository has `{name}` where gradegate keeps what it measured, and a pull request "
        "must not bring its own: remove it from git, and add `.gradegate/` to .gitignore"
    )


def _chown(path: Path, owner: os.stat_result) -> None:
    if path.is_symlink() or path.exists():
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
