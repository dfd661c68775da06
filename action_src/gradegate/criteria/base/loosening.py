"""The sentences about what a pull request asks less of its agent: one function for each."""

from gradegate.model.notice import Notice, notice


def threshold_goes(was: float, now: float) -> Notice:
    """It becomes easier to reach."""
    return notice("loosened.threshold", was=f"{was:g}", now=f"{now:g}")


def option_goes(option: str, was: object, now: object) -> Notice:
    """An option that has an order goes down."""
    return notice("loosened.option", name=option, was=was, now=now)


def changed(option: str) -> Notice:
    """What a judge is told is another thing: nobody can say which way that goes."""
    return notice("loosened.changed", name=option)


def switched_on(option: str) -> Notice:
    """An option that leaves something out is switched on."""
    return notice("loosened.switched_on", name=option)


def switched_off(option: str) -> Notice:
    """An option that looks at more is switched off."""
    return notice("loosened.switched_off", name=option)


def rubric_taken_out(rubric_id: str) -> Notice:
    """Nobody asks about it any more."""
    return notice("loosened.rubric", name=rubric_id)
