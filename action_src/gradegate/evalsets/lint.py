"""`gradegate check`: everything that is wrong with a repository's files, at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from gradegate.criteria import registry
from gradegate.evalsets.config import fit_findings
from gradegate.evalsets.config_places import CONFIG_FILE
from gradegate.evalsets.dataset_config import DATASET_CONFIGS, with_rubrics
from gradegate.evalsets.discover import files_below, find
from gradegate.evalsets.formats import is_eval_set_name
from gradegate.evalsets.load import SetFolder, unused_configs
from gradegate.evalsets.models import shut_down_models
from gradegate.evalsets.project import agentless, read_project
from gradegate.files.findings import Finding
from gradegate.files.results_json import examine_traces, is_adk_result
from gradegate.files.schema_errors import nearest
from gradegate.files.settings_toml import (
    PYPROJECT,
    SETTINGS_FILE,
    examine_settings,
    has_settings,
    place_of,
    prefix_in,
)
from gradegate.files.tool_recordings import ENDING, examine_recording
from gradegate.model.errors import FileError, InputError
from gradegate.model.runs import TRACES_SCHEMA
from gradegate.model.settings import Settings, Suite
from gradegate.model.variables import refuse_tokens

Kind = Callable[[str], Iterable[Finding]]

_SETTINGS_FILES = (SETTINGS_FILE, PYPROJECT)
_ENOUGH_TO_SEE_THE_SCHEMA = 200
_CODE = (".py", ".yaml", ".yml")
"""How files end in which agents name their models."""


@dataclass(frozen=True)
class Checked:
    """How many files were looked at, and what was found in them, sorted."""

    files: int
    findings: tuple[Finding, ...]
    configs: Mapping[str, str | None] = field(default_factory=dict)
    """The config that each eval set goes by; None: google-adk's defaults."""


def check(
    root: Path, paths: Sequence[str] = (), environ: Mapping[str, str] = MappingProxyType({})
) -> Checked:
    """Check these files and folders, by default the whole repository.

    Where a gradegate.toml is among them, what its suites name is checked as well: files, and that
    no variable of `environ` would hand an agent the job's token.
    """
    linter = _Linter(root, environ)
    for path in paths or (".",):
        linter.path(path)
    linter.unused_configs()
    if not paths:
        linter.agents()
    return Checked(linter.files, tuple(sorted(linter.findings)), linter.configs)


def without_agents(root: Path) -> Iterator[Finding]:
    """An error for each suite that nothing answers to, at the first of its eval sets."""
    for suite, message in agentless(root, read_project(root).suites):
        sets = find(root, suite.evals)
        yield Finding(sets[0] if sets else SETTINGS_FILE, 1, 1, "error", message)


class _Linter:
    """Goes from file to file; each is looked at once, whoever names it."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.folder = SetFolder(root)
        self.findings: set[Finding] = set()
        self.configs: dict[str, str | None] = {}
        self._config_of: dict[str, str] = {}
        self._done: set[str] = set()

    @property
    def files(self) -> int:
        return len(self._done)

    def path(self, path: str) -> None:
        place = self.folder.root / path
        if place.is_dir():
            below = PurePosixPath(path).parts
            names = list(files_below(self.folder.root, below))
            names.sort(key=lambda name: (PurePosixPath(name).name not in _SETTINGS_FILES, name))
            for name in names:
                if kind := self._kind_in_folder(name):
                    self._once(name, kind)
        elif place.is_file():
            name = PurePosixPath(path).as_posix()
            self._once(name, self._kind_by_name(name) or self._by_content)
        else:
            raise InputError(f"{path} does not exist: name a file or a folder to check")

    def unused_configs(self) -> None:
        """Note what lies beside the sets like a config and is nobody's."""
        by_place = [name for name in self.configs if name not in self._config_of]
        used = {*self.configs.values(), *self._config_of.values()}
        self.findings.update(unused_configs(self.folder, by_place, used))

    def agents(self) -> None:
        """Note the models in the agents' code that are shut down."""
        with suppress(InputError):
            for suite in read_project(self.folder.root).suites:
                below = PurePosixPath(suite.agent).parts if suite.agent else None
                for name in files_below(self.folder.root, below) if below is not None else ():
                    if name.endswith(_CODE):
                        with suppress(FileError):
                            self.findings.update(shut_down_models(name, self.folder.text(name)))

    def _once(self, name: str, kind: Kind) -> None:
        if name in self._done:
            return
        self._done.add(name)
        try:
            self.findings.update(kind(name))
        except FileError as error:
            self.findings.add(Finding.of(error))

    def _kind_by_name(self, name: str) -> Kind | None:
        file = PurePosixPath(name).name
        if is_eval_set_name(self.folder.root / name):
            return self._eval_set
        if file == CONFIG_FILE or (file in DATASET_CONFIGS and self.folder.is_config(name)):
            return self._config
        if file.endswith(ENDING):
            return self._recording
        if file.endswith(".toml"):
            return self._settings
        return None

    def _kind_in_folder(self, name: str) -> Kind | None:
        """What a file nobody named in particular is to us, if anything."""
        file = PurePosixPath(name).name
        if file.endswith(".toml"):
            return self._settings if name in _SETTINGS_FILES else None
        return self._kind_by_name(name) or (self._traces if self._looks_like_traces(name) else None)

    def _recording(self, name: str) -> Iterable[Finding]:
        return examine_recording(name, self.folder.text(name))[0]

    def _looks_like_traces(self, name: str) -> bool:
        path = self.folder.root / name
        if path.suffix != ".json" or not path.is_file():
            return False
        with path.open("rb") as file:
            return TRACES_SCHEMA.encode() in file.read(_ENOUGH_TO_SEE_THE_SCHEMA)

    def _by_content(self, name: str) -> Iterable[Finding]:
        """A file of any other name, taken for what it holds."""
        document = self.folder.document(name, repair=True)
        value = document.value
        if isinstance(value, list) or {"eval_cases", "evalCases"} & set(_keys(value)):
            return self._eval_set(name)
        if "criteria" in _keys(value):
            return self._config(name)
        if isinstance(value, dict) and (
            value.get("schema") == TRACES_SCHEMA or is_adk_result(value)
        ):
            return self._traces(name)
        message = "neither an eval set, nor a config, nor a traces file: nothing to check"
        return [document.finding(message)]

    def _eval_set(self, name: str) -> Iterable[Finding]:
        eval_set = self.folder.eval_set(name)
        try:
            config = self.folder.config_for(name, self._config_of.get(name))
        except FileError as error:
            yield from (*eval_set.findings, Finding.of(error))
            return
        self.configs[name] = config.document.path if config.document else None
        eval_set = with_rubrics(eval_set, config)
        yield from (*eval_set.findings, *config.findings)
        yield from fit_findings(eval_set, config)

    def _config(self, name: str) -> Iterable[Finding]:
        yield from self.folder.config(name).findings
        yield from shut_down_models(name, self.folder.text(name))

    def _traces(self, name: str) -> Iterable[Finding]:
        return examine_traces(self.folder.document(name))[1]

    def _settings(self, name: str) -> Iterable[Finding]:
        text = self.folder.text(name)
        if not has_settings(name, text):
            return
        settings, findings = examine_settings(name, text)
        yield from findings
        yield from shut_down_models(name, text)
        yield from _unknown_in_gate(name, text, settings)
        for index, suite in enumerate(settings.suite):
            keys: tuple[str | int, ...] = (*prefix_in(name), "suite", index)
            try:
                self._suite_files(suite)
                keys = (*keys, "env")
                refuse_tokens((suite.env or {}).values(), self._environ)
            except InputError as error:
                place = place_of(text, keys)
                yield Finding(name, *place, "error", f"suite `{suite.name}`: {error}")

    def _suite_files(self, suite: Suite) -> None:
        sets = find(self.folder.root, suite.evals)
        if suite.evals and not sets:
            sought = ", ".join(f"`{pattern}`" for pattern in suite.evals)
            raise InputError(f"{sought} matches no file")
        if suite.eval_config:
            self._config_of.update(dict.fromkeys(sets, suite.eval_config))
            self._once(suite.eval_config, self._config)
        if suite.traces:
            self._once(suite.traces, self._traces)
        for eval_set in sets:
            self._once(eval_set, self._eval_set)


def _keys(value: object) -> Iterable[str]:
    return value.keys() if isinstance(value, dict) else ()


def _unknown_in_gate(name: str, text: str, settings: Settings) -> Iterator[Finding]:
    """Names under [gate] that no criterion of ours has; a custom metric may."""
    for table, names in (("criteria", settings.gate.criteria), ("budget", settings.gate.budget)):
        for criterion in names:
            if criterion not in registry.known():
                keys = (*prefix_in(name), "gate", table, criterion)
                hint = nearest(criterion, registry.known())
                message = f"`{criterion}` is no criterion of ADK's: {hint}"
                yield Finding(name, *place_of(text, keys), "warning", message)
