"""multi_turn_task_success_v1: did the conversation reach its goals?"""

from typing import ClassVar

from gradegate.criteria.multi_turn import MultiTurn


class MultiTurnTaskSuccess(MultiTurn):
    """Did the user get what the conversation was for?"""

    name: ClassVar[str] = "multi_turn_task_success_v1"
    metric: ClassVar[str] = "multi_turn_task_success_v1"
    summary: ClassVar[str] = "whether the conversation reached its goals"
