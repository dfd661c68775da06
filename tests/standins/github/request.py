"""A request that is in order, as operations see it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.standins.github.answer import Answer, invalid, not_found
from tests.standins.github.model import Actor, CheckRun, Level, PullRequest, State
from tests.standins.github.views import Views, page

T = TypeVar("T")

REPO = "/repos/{owner}/{repo}"


@dataclass(frozen=True)
class Request:
    """A request that is in order, and who it is from."""

    state: State
    views: Views
    actor: Actor
    url: str
    values: Mapping[str, str]
    query: dict[str, str]
    body: dict[str, Any]

    def pages(self, items: Iterable[Any]) -> Answer:
        """One page of a list."""
        part = page(list(items), self.url, self.query)
        return Answer(200, part.items, {"Link": part.link} if part.link else {})

    def number(self, name: str) -> int:
        """A number in the path; what is none leads nowhere."""
        if not self.values[name].isdecimal():
            raise not_found()
        return int(self.values[name])

    def pull(self, name: str = "issue_number") -> PullRequest:
        """The pull request that the path names."""
        return found(self.state.pulls, self.number(name))

    def shown(self, run: CheckRun) -> dict[str, Any]:
        """A check run as the answer has it."""
        return self.views.check_run(run, names_app=self.state.names_apps)

    def commit(self, sha: str) -> str:
        """The commit, if the repository has it."""
        if sha not in self.state.commits:
            raise invalid(f"No commit found for SHA: {sha}")
        return sha


Handler = Callable[[Request], Answer]
Routes = Mapping[str, tuple[str | None, Level, Handler]]
"""The permission an operation needs, and what it does."""


def found(things: Mapping[int, T], number: int) -> T:
    """The thing with this number."""
    try:
        return things[number]
    except KeyError:
        raise not_found() from None
