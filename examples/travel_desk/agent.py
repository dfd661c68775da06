"""The desk, and the clerk it hands refunds over to."""

from google.adk.agents import Agent

from .tools import find_flights, get_weather, refund_booking

MODEL = "gemini-3.5-flash-lite"

refund_clerk = Agent(
    name="refund_clerk",
    model=MODEL,
    description="Refunds bookings.",
    instruction=(
        "Refund the booking that the traveller names, with refund_booking. "
        "Say what was refunded, in the traveller's language; never promise more than the tool says."
    ),
    tools=[refund_booking],
)

root_agent = Agent(
    name="travel_desk",
    model=MODEL,
    description="Answers travellers' questions about weather, flights and refunds.",
    instruction=(
        "You are the desk of a small travel agency. Answer in the traveller's language. "
        "Ask get_weather about the weather and find_flights about flights, never your memory. "
        "Prices are in {currency?}. Hand refunds over to refund_clerk."
    ),
    tools=[get_weather, find_flights],
    sub_agents=[refund_clerk],
)
