"""Base's earlier outcomes on a branch of their own: for caches are evicted, and branches stay.

Jobs of a base branch write there what their stores hold, and nobody else does. Others read it, and
believe it no more than they must: what is no commit of the base branch is left out.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from gradegate import locales, wiring
from gradegate.files.history_json import history_text, read_history_text
from gradegate.github_action.inputs import NO_DATA_BRANCH
from gradegate.github_action.step import WorkflowStep
from gradegate.model.errors import FileError, InputError
from gradegate.model.history import History, Record
from gradegate.model.posting import Skipped
from gradegate.ports import Forge, HistoryStore

NONE = History()


class HandedOn:
    """The store's records, and those on the branch, which is asked once the first are wanted."""

    def __init__(self, store: HistoryStore, base: str, forge: Forge, step: WorkflowStep) -> None:
        self._store = store
        self._base = base
        self._forge = forge
        self._step = step
        self._taken_in = False

    def records(self, keys: Iterable[str]) -> Mapping[str, Record]:
        """Those that there are."""
        self._take_in()
        return self._store.records(keys)

    def all(self) -> History:
        """Everything."""
        self._take_in()
        return self._store.all()

    def add(self, history: History) -> None:
        """Take these in; a job whose runs are known adds nothing."""
        self._store.add(history)

    def _take_in(self) -> None:
        if not self._taken_in:
            self._taken_in = True
            self._store.add(_handed_on(self._base, self._forge, self._step))


def _handed_on(base: str, forge: Forge, step: WorkflowStep) -> History:
    """What the base branch's own jobs have handed on; what is amiss is told."""
    branch = _data_branch(base, step)
    if not branch:
        return NONE
    text = forge.data(branch, file_of(base))
    if isinstance(text, Skipped):
        step.say(f"gradegate: base's records on {branch} cannot be read: {text.reason}")
        return NONE
    handed = _read(text, base, step)
    here = forge.among_ancestors(base, handed.commits)
    if isinstance(here, Skipped):
        step.say(f"gradegate: base's records on {branch} are left out: {here.reason}")
        return NONE
    if foreign := handed.commits - here:
        commits = locales.some(len(foreign), "commit")
        step.say(f"gradegate: {branch} has records of {commits} not on {base}: they are left out")
    return handed.of(here)


def hand_on(base: str, commit: str, forge: Forge, step: WorkflowStep) -> None:
    """Add what the store holds to the base branch's records, beside what others add meanwhile."""
    branch = _data_branch(base, step)
    with wiring.open_history(step.store) as store:
        own = store.all()
    if not branch or not own.records:
        return

    def with_own(present: str | None) -> str:
        return history_text(_read(present, base, step).plus(own))

    done = forge.change_data(branch, file_of(base), with_own, f"Add {commit[:7]} of {base}")
    if isinstance(done, Skipped):
        grant = f"; add `{done.needs}` under the job's `permissions:`" if done.needs else ""
        step.say(
            f"gradegate: base's records were not written to the branch {branch}, so they last as "
            f"long as the cache does: {done.reason}{grant}"
        )


def file_of(base: str) -> str:
    """Where a base branch's records are: a file of its own, whatever the branch is called."""
    return f"{quote(base, safe='')}.json"


def _read(text: str | None, base: str, step: WorkflowStep) -> History:
    """The records; none where the file is damaged, which the next baseline mends."""
    if text is None:
        return NONE
    try:
        return read_history_text(text, f"{step.inputs.data_branch}:{file_of(base)}")
    except FileError as error:
        step.say(f"gradegate: {error}: ignored, and written anew by the next baseline")
        return NONE


def _data_branch(base: str, step: WorkflowStep) -> str:
    """The branch's name; empty where there is none to read or write.

    Raises:
        InputError: it is the very branch whose code is evaluated.
    """
    name = step.inputs.data_branch
    if not base or name == NO_DATA_BRANCH:
        return ""
    if name == base:
        raise InputError(
            f"input `data-branch` cannot be `{name}`, which has the code: name a branch that keeps "
            f"nothing else, such as `gradegate-data`, or write `{NO_DATA_BRANCH}`"
        )
    return name
