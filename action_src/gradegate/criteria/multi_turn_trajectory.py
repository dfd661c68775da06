"""multi_turn_trajectory_quality_v1: were the agent's steps sensible?"""

from typing import ClassVar

from gradegate.criteria.multi_turn import MultiTurn


class MultiTurnTrajectoryQuality(MultiTurn):
    """Was the way there a sensible one?"""

    name: ClassVar[str] = "multi_turn_trajectory_quality_v1"
    metric: ClassVar[str] = "multi_turn_trajectory_quality_v1"
    summary: ClassVar[str] = "how sensible the agent's steps were over the whole conversation"
