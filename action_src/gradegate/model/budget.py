"""What an efficiency metric may come to, as `[gate.budget]` has it."""

from typing import Literal, NamedTuple

Kind = Literal["percent", "more", "limit"]


class Budget(NamedTuple):
    """A budget as written in `[gate.budget]`."""

    kind: Kind
    amount: float

    def allowed(self, base: float | None) -> float | None:
        """The most that head may have; None where that needs a base and there is none."""
        if self.kind == "limit":
            return self.amount
        if base is None:
            return None
        return base * (1 + self.amount / 100) if self.kind == "percent" else base + self.amount


def parse_budget(text: str) -> Budget:
    """Read what the settings have validated already."""
    if text.startswith("<="):
        return Budget("limit", float(text.removeprefix("<=")))
    if text.endswith("%"):
        return Budget("percent", float(text.removesuffix("%")))
    return Budget("more", float(text))


def stricter_budget(base: str | None, head: str | None) -> str:
    """The stricter of two; kinds that cannot be compared leave the word to base."""
    if base is None or head is None:
        return base or head or ""
    before, after = parse_budget(base), parse_budget(head)
    return head if before.kind == after.kind and after.amount < before.amount else base


def is_looser(base: str, head: str | None) -> bool:
    """Whether head allows more than base did, or the budget is gone or of another kind."""
    if head is None:
        return True
    before, after = parse_budget(base), parse_budget(head)
    return before.kind != after.kind or after.amount > before.amount
