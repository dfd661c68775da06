"""Which of the cases a run is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gradegate.compare.pairing import Pair
from gradegate.model.errors import InputError


@dataclass(frozen=True)
class CaseFilter:
    """Which of the cases this run is about."""

    cases: tuple[str, ...] = ()
    """Globs over eval ids; none: all of them."""

    def of(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """The chosen ones, in their order.

        Raises:
            InputError: a glob matches nothing.
        """
        ids = {one.key.eval_id for one in pairs}
        for glob in self.cases:
            if not any(fnmatchcase(eval_id, glob) for eval_id in ids):
                raise InputError(
                    f"no case matches `--case {glob}`: it is a glob over eval ids, such as "
                    f"`{pairs[0].key.eval_id if pairs else 'paris*'}`"
                )
        return tuple(one for one in pairs if self._wants(one.key.eval_id))

    def _wants(self, eval_id: str) -> bool:
        return not self.cases or any(fnmatchcase(eval_id, glob) for glob in self.cases)
