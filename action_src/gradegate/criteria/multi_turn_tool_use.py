"""multi_turn_tool_use_quality_v1: were tools used well?"""

from typing import ClassVar

from gradegate.criteria.multi_turn import MultiTurn


class MultiTurnToolUseQuality(MultiTurn):
    """Were the right tools called, and rightly?"""

    name: ClassVar[str] = "multi_turn_tool_use_quality_v1"
    metric: ClassVar[str] = "multi_turn_tool_use_quality_v1"
    summary: ClassVar[str] = "how well tools were used over the whole conversation"
