"""The travel desk: what travellers say, which tool answers it, and how the answer is put."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import tools

Json = dict[str, Any]
YEAR = 2026
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A tool that was used, and what it said."""

    tool: str
    args: Json
    response: Json


@dataclass
class Turn:
    """What came of one thing a traveller said."""

    answer: str = ""
    calls: list[Call] = field(default_factory=list)


class Desk:
    """One traveller's conversation: the desk remembers the flight and the city."""

    def __init__(self, luck: random.Random) -> None:
        self._luck = luck
        self._flight: Json = {}
        self._city = ""
        self._turn = Turn()

    def answer(self, said: str) -> Turn:
        """Answer with the first phrase that fits."""
        self._turn = Turn("I am sorry, I did not get that.")
        for pattern, reply in PHRASES:
            if found := re.search(pattern, said):
                self._turn.answer = reply(self, **found.groupdict())
                break
        return self._turn

    def flight(self, origin: str, destination: str, day: str) -> str:
        """Find a flight, and keep it in mind."""
        found = self._find_flight(origin, destination, iso(day))
        leaves = f"{origin} on {spoken(found['date'])} at {found['departs']}"
        lands = f"{destination} on {spoken(arrival(found))} at {found['arrives']}"
        return f"{found['flight']} leaves {leaves} and lands in {lands}, for {found['price']} EUR."

    def hotel(self, city: str, day: str, nights: str) -> str:
        """Book a hotel for a day that the traveller names."""
        return self._book(city, iso(day), int(nights), "EUR")

    def hotel_there(self, nights: str, currency: str | None) -> str:
        """Book a hotel where the flight goes."""
        if not self._flight:
            return "Gladly: in which city?"
        return self._book(self._city, self._check_in(), int(nights), CURRENCIES[currency])

    def weather(self, city: str, **_: str | None) -> str:
        """Tell the weather."""
        now = self._use("get_weather", tools.get_weather, city=city)
        return f"{city}: {now['sky']}, {now['degrees']} °C."

    def ferry(self, island: str) -> str:
        """Tell the next ferry, if the harbour answers."""
        luck = self._luck
        found = self._use("get_ferry", lambda island: tools.get_ferry(island, luck), island=island)
        if found["status"] == "busy":
            return "The harbour is not answering. Please ask again in a minute."
        return f"The next ferry to {island} leaves at {found['departs']} from pier {found['pier']}."

    def visa(self, country: str) -> str:
        """Say what the desk knows about visas."""
        return f"For up to 90 days in {country} you need no visa."

    def tenki(self, city: str) -> str:
        """Tell the weather, in Japanese."""
        now = self._use("get_weather", tools.get_weather, city=city)
        return f"{city}は{now['sky']}、{now['degrees']}度です。"

    def bin(self, origin: str, destination: str, month: str, day: str) -> str:
        """Find a flight, in Japanese."""
        found = self._find_flight(origin, destination, f"{YEAR}-{int(month):02}-{int(day):02}")
        return (
            f"{found['flight']}便は{origin}を{found['departs']}に出発し、"
            f"{destination}に{found['arrives']}に到着します。料金は{found['price']}ユーロです。"
        )

    def yado(self, nights: str) -> str:
        """Book a hotel where the flight goes, in Japanese."""
        if not self._flight:
            return "どちらの街でしょうか。"
        check_in = self._check_in()
        booked = self._book_hotel(self._city, check_in, int(nights), "JPY")
        when = date.fromisoformat(check_in)
        return (
            f"{booked['hotel']}を{when.month}月{when.day}日から{nights}泊、"
            f"{booked['total']:,}円で予約しました。"
        )

    def _find_flight(self, origin: str, destination: str, day: str) -> Json:
        args = {"origin": origin, "destination": destination, "date": day}
        self._flight, self._city = self._use("find_flight", tools.find_flight, **args), destination
        return self._flight

    def _book_hotel(self, city: str, check_in: str, nights: int, currency: str) -> Json:
        args = {"city": city, "check_in": check_in, "nights": nights, "currency": currency}
        return self._use("book_hotel", tools.book_hotel, **args)

    def _check_in(self) -> str:
        """The day the traveller gets there: a night flight lands the day after."""
        return arrival(self._flight)

    def _book(self, city: str, check_in: str, nights: int, currency: str) -> str:
        booked = self._book_hotel(city, check_in, nights, currency)
        if booked["status"] != "booked":
            return f"I am sorry: every hotel in {city} is full on {spoken(check_in)}."
        return (
            f"{booked['hotel']} in {city} is booked from {spoken(check_in)} for {nights} nights, "
            f"{booked['total']:,} {currency} in all."
        )

    def _use(self, name: str, tool: Callable[..., Json], **args: Any) -> Json:
        response = tool(**args)
        self._turn.calls.append(Call(name, args, response))
        return response


def iso(day: str) -> str:
    """`3 May` as `2026-05-03`."""
    number, month = day.split()
    return date(YEAR, MONTHS.index(month) + 1, int(number)).isoformat()


def spoken(day: str) -> str:
    """`2026-05-03` as `3 May`."""
    when = date.fromisoformat(day)
    return f"{when.day} {MONTHS[when.month - 1]}"


def arrival(flight: Json) -> str:
    """The day a flight lands."""
    landed = date.fromisoformat(flight["date"]) + timedelta(days=flight["nights"])
    return landed.isoformat()


CURRENCIES = {None: "EUR", "euros": "EUR", "yen": "JPY"}
PHRASES: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"flight from (?P<origin>\w+) to (?P<destination>\w+) on (?P<day>\d+ \w+)", Desk.flight),
    (r"hotel there for (?P<nights>\d+) nights(?:, in (?P<currency>yen|euros))?", Desk.hotel_there),
    (r"hotel in (?P<city>\w+) from (?P<day>\d+ \w+) for (?P<nights>\d+) nights", Desk.hotel),
    (r"weather in (?P<city>[A-Z]\w+(?: [A-Z]\w+)?)", Desk.weather),
    (r"ferry to (?P<island>\w+)", Desk.ferry),
    (r"visa for (?P<country>\w+)", Desk.visa),
    (r"(?P<city>\w+?)の天気", Desk.tenki),
    (r"(?P<month>\d+)月(?P<day>\d+)日の(?P<origin>\w+?)から(?P<destination>\w+?)への便", Desk.bin),
    (r"(?P<nights>\d+)泊", Desk.yado),
)
