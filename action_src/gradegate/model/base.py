"""The two kinds of value every other model is made of."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Value(BaseModel):
    """A frozen value of ours: unknown keys are mistakes, numbers are finite."""

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
    )


class AdkValue(BaseModel):
    """A frozen value of ADK's: snake_case or camelCase keys, unknown ones tolerated.

    ADK's files come with UI state and with fields of versions newer than ours; neither is
    a reason to refuse a file.
    """

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="ignore",
        allow_inf_nan=False,
        alias_generator=to_camel,
        populate_by_name=True,
    )
