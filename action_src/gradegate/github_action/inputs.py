"""What a workflow asks of the Action, read from the environment GitHub hands over."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from pydantic import SecretStr

from gradegate.model.base import Value
from gradegate.model.errors import InputError
from gradegate.model.overrides import (
    READERS,
    Overrides,
    Shard,
    read_address,
    read_choice,
    read_count,
    read_shard,
    read_text,
)
from gradegate.model.report import ReasonKind
from gradegate.model.settings import CommentWhen, Language

NO_DATA_BRANCH = "none"


class Mode(StrEnum):
    """Which part of the job to do."""

    AUTO = "auto"
    EVALUATE = "evaluate"
    PUBLISH = "publish"
    BASELINE = "baseline"
    MERGE = "merge"


class Inputs(Value):
    """The Action's inputs. None is "not given", and leaves the word to `gradegate.toml`."""

    github_token: SecretStr | None = None
    config: str | None = None
    suite: str | None = None
    agent: str | None = None
    evals: tuple[str, ...] | None = None
    base: str | None = None
    mode: Mode = Mode.AUTO
    runs: int | None = None
    fail_on: tuple[ReasonKind, ...] | None = None
    tolerance: float | None = None
    comment: CommentWhen | None = None
    language: Language | None = None
    check_name: str = "gradegate"
    shard: Shard | None = None
    shards_dir: str = ".gradegate/shards"
    confirm_shards: int | None = None
    store: str | None = None
    data_branch: str = "gradegate-data"
    working_directory: str = "."
    report_dir: str = ".gradegate/report"
    report_url: str | None = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Inputs":
        """Read every `INPUT_…` variable; an empty one is not given.

        Raises:
            InputError: naming the input, its value and what to write instead.
        """
        given = {field: environ.get(variable(field), "").strip() for field in cls.model_fields}
        return cls.model_validate(
            {field: _READ[field](input_name(field), text) for field, text in given.items() if text}
        )

    @property
    def overrides(self) -> Overrides:
        """Those that count before gradegate.toml."""
        shared = Overrides.model_fields.keys() & type(self).model_fields.keys()
        return Overrides(**{name: getattr(self, name) for name in shared})

    def require_token(self) -> SecretStr:
        """The token, for the commands that cannot do without.

        Raises:
            InputError: where the workflow gives none.
        """
        if self.github_token is None:
            raise InputError(
                "input `github-token` is missing: write `github-token: ${{ github.token }}` "
                "under the step's `with:`, or leave the line out to get that default"
            )
        return self.github_token


def input_name(field: str) -> str:
    """The field's name in a workflow: `fail_on` is `fail-on`."""
    return field.replace("_", "-")


def variable(field: str) -> str:
    """The variable GitHub puts the input in; it keeps hyphens."""
    return f"INPUT_{input_name(field).upper()}"


_READ: dict[str, Callable[[str, str], object]] = {
    **READERS,
    "github_token": read_text,
    "base": read_text,
    "mode": read_choice(*Mode),
    "check_name": read_text,
    "shard": read_shard,
    "shards_dir": read_text,
    "confirm_shards": read_count,
    "store": read_text,
    "data_branch": read_text,
    "working_directory": read_text,
    "report_dir": read_text,
    "report_url": read_address,
}
