"""Base's own words on the report of a fork, whose second workflow checks nothing out."""

from pathlib import PurePosixPath

from gradegate.files.settings_toml import PYPROJECT, SETTINGS_FILE, has_settings, parse_settings
from gradegate.github_action.inputs import Inputs
from gradegate.model.errors import FileError
from gradegate.model.posting import Skipped
from gradegate.model.settings import ReportSettings, Settings
from gradegate.ports import Forge


def report_settings_of_base(
    forge: Forge, pull_request: int | None, inputs: Inputs
) -> ReportSettings | Skipped:
    """What base's settings file says of comment and language; inputs count before it.

    Why it cannot be had, where it cannot: then the report is shown as by default.
    """
    settings = _settings(forge, pull_request, inputs)
    if isinstance(settings, Skipped):
        return settings
    given = {"comment": inputs.comment, "language": inputs.language}
    chosen = {name: value for name, value in given.items() if value is not None}
    return settings.report.model_copy(update=chosen)


def _settings(forge: Forge, pull_request: int | None, inputs: Inputs) -> Settings | Skipped:
    if pull_request is None:
        return Settings()
    pull = forge.pull_request(pull_request)
    if isinstance(pull, Skipped):
        return pull
    names = (SETTINGS_FILE, PYPROJECT) if inputs.config is None else (inputs.config,)
    for name in names:
        path = PurePosixPath(inputs.working_directory, name).as_posix()
        text = forge.file(path, pull.base_branch)
        if isinstance(text, Skipped):
            return text
        try:
            if text is not None and (name != PYPROJECT or has_settings(name, text)):
                return parse_settings(name, text)
        except FileError as error:
            return Skipped(f"base's settings: {error}")
    return Settings()
