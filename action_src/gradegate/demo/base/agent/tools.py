"""The desk's tools. Each takes plain arguments and returns plain JSON."""

import random
from typing import Any

Json = dict[str, Any]

_FLIGHTS: dict[tuple[str, str], tuple[str, str, str, int, int]] = {
    ("Helsinki", "Osaka"): ("GG 77", "17:40", "11:55", 1, 640),
    ("Paris", "Lisbon"): ("GG 12", "08:25", "09:55", 0, 118),
    ("東京", "札幌"): ("GG 301", "09:30", "11:05", 0, 96),
}
_HOTELS: dict[str, tuple[str, int]] = {
    "Osaka": ("Dotonbori Inn", 95),
    "Lisbon": ("Casa da Graça", 110),
    "Kyoto": ("Kamogawa House", 130),
    "札幌": ("大通ホテル", 75),
}
_WEATHER: dict[str, tuple[str, int]] = {
    "Lisbon": ("sunny", 24),
    "New York": ("sunny", 25),
    "東京": ("晴れ", 22),
}
_RATES = {"EUR": 1.0, "JPY": 160.0}
_BUSY = 0.25


def find_flight(origin: str, destination: str, date: str) -> Json:
    """The day's flight; `nights` is how many of them it spends in the air."""
    names = ("flight", "departs", "arrives", "nights", "price")
    found = _FLIGHTS[origin, destination]
    return {"date": date, **dict(zip(names, found, strict=True))}


def book_hotel(city: str, check_in: str, nights: int, currency: str) -> Json:
    """Book a room, where one is left."""
    if city not in _HOTELS:
        return {"status": "sold out"}
    hotel, price = _HOTELS[city]
    total = round(price * nights * _RATES[currency])
    return {"status": "booked", "hotel": hotel, "check_in": check_in, "total": total}


def get_weather(city: str) -> Json:
    """The weather now, in degrees Celsius."""
    sky, degrees = _WEATHER[city]
    return {"sky": sky, "degrees": degrees}


def get_ferry(island: str, luck: random.Random) -> Json:
    """The next ferry, from a harbour whose board is busy one time in four."""
    if luck.random() < _BUSY:
        return {"status": "busy"}
    return {"status": "ok", "island": island, "pier": 3, "departs": "14:20"}
