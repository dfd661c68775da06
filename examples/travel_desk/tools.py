"""What the desk can look up and do; a small agency's data, the same every day."""

from typing import Any

from google.adk.tools import ToolContext

_WEATHER = {
    "paris": ("light rain", 14),
    "tokyo": ("clear", 22),
    "oslo": ("snow", -3),
    "東京": ("晴れ", 22),
    "札幌": ("雪", -5),
}
_FLIGHTS = {
    ("oslo", "paris"): [("GG 101", "08:40", 120), ("GG 103", "17:15", 95)],
    ("paris", "tokyo"): [("GG 201", "11:05", 640)],
    ("東京", "札幌"): [("GG 301", "09:30", 80)],
}
_BOOKINGS = {"A17": 120, "B42": 640}
_RATES = {"EUR": 1.0, "JPY": 160.0}


def get_weather(city: str) -> dict[str, Any]:
    """Today's weather in a city.

    Args:
        city: the city's name, as the traveller wrote it.
    """
    if city.lower() not in _WEATHER:
        return {"error": f"no weather station in {city}"}
    sky, celsius = _WEATHER[city.lower()]
    return {"city": city, "sky": sky, "celsius": celsius}


def find_flights(  # noqa: D417 - the docstring is the model's, and it does not see the session
    origin: str, destination: str, tool_context: ToolContext
) -> dict[str, Any]:
    """Today's flights from one city to another.

    Args:
        origin: the city to leave from.
        destination: the city to go to.
    """
    currency = tool_context.state.get("currency", "EUR")
    found = _FLIGHTS.get((origin.lower(), destination.lower()), [])
    tool_context.state["last_search"] = f"{origin}-{destination}"
    return {
        "flights": [
            {"flight": flight, "departs": departs, "price": round(price * _RATES[currency])}
            for flight, departs, price in found
        ],
        "currency": currency,
    }


def refund_booking(booking: str) -> dict[str, Any]:
    """Pay a booking back.

    Args:
        booking: the booking's code, such as A17.
    """
    if booking not in _BOOKINGS:
        return {"status": "unknown booking", "booking": booking}
    return {"status": "refunded", "booking": booking, "euros": _BOOKINGS[booking]}
