"""What the judge says of each of the desk's answers: written by hand, taken down by `record`."""

VALID: dict[str, tuple[bool, str]] = {
    "GG 77 leaves Helsinki on 3 May at 17:40 and lands in Osaka on 4 May at 11:55, for 640 EUR.": (
        True,
        "The same flight, with the same days, times and price.",
    ),
    "Dotonbori Inn in Osaka is booked from 4 May for 2 nights, 30,400 JPY in all.": (
        True,
        "The same hotel for the same two nights at the same price in yen.",
    ),
    "Dotonbori Inn in Osaka is booked from 3 May for 2 nights, 30,400 JPY in all.": (
        False,
        "The reference books from 4 May: on the night of 3 May the traveller is in the air.",
    ),
    "GG 12 leaves Paris on 12 June at 08:25 and lands in Lisbon on 12 June at 09:55, for 118 EUR.": (  # noqa: E501 - an answer as it is given
        True,
        "The same flight, with the same day, times and price.",
    ),
    "Casa da Graça in Lisbon is booked from 12 June for 3 nights, 330 EUR in all.": (
        True,
        "The same hotel for the same three nights at the same price.",
    ),
    "Kamogawa House in Kyoto is booked from 9 May for 4 nights, 520 EUR in all.": (
        True,
        "Hotel, dates and price are those of the reference.",
    ),
    "I am sorry: every hotel in Oslo is full on 17 May.": (
        True,
        "Both say that no hotel in Oslo has a room on that day; the wording is free.",
    ),
    "Booking KIX-204 is cancelled; 190 EUR are on their way back to you.": (
        True,
        "The booking is cancelled and the same sum is paid back.",
    ),
}
"""By answer, for `final_response_match_v2`: is it valid, and why."""

RUBRICS: dict[str, dict[str, tuple[bool, str]]] = {
    "東京は晴れ、22度です。": {
        "polite": (True, "The sentence ends in です."),
        "from_the_tool": (True, "The tool said 22 degrees, and so does the answer."),
    },
    "GG 301便は東京を09:30に出発し、札幌に11:05に到着します。料金は96ユーロです。": {
        "polite": (True, "The sentences end in ます and です."),
        "from_the_tool": (True, "09:30, 11:05 and 96 are what find_flight returned."),
    },
    "大通ホテルを5月9日から2泊、24,000円で予約しました。": {
        "polite": (True, "The sentence ends in ました."),
        "from_the_tool": (True, "24,000 yen is the total that book_hotel returned."),
    },
}
"""By answer and rubric, for `rubric_based_final_response_quality_v1`: yes or no, and why."""
