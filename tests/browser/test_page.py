"""The page in Chromium: it shows every situation, and does what it offers."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from gradegate.locales import locale_of
from gradegate.report.case_sections import ATTENTION
from gradegate.report.links import case_fragment
from gradegate.report.view import build
from tests.browser.conftest import (
    LINKS,
    NARROW,
    PHONE,
    ROOT,
    SITUATIONS,
    WIDE,
    page_text,
    report_of,
)
from tests.browser.reports import large

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
FIRST = "#list a"
LOOKS = [
    ("light", WIDE),
    ("dark", WIDE),
    ("light", NARROW),
    ("light", PHONE),
    ("dark", PHONE),
]
Opened = Callable[..., Any]


def overflow(page: Any) -> list[str]:
    """What is wider than the window, but for what scrolls on its own."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .filter((one) => !one.closest(".scroll, .unseen, .signs, #list, dialog"))
            .map((one) => one.outerHTML.slice(0, 120))"""
    )
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page itself scrolls sideways")
    return found


def serious(page: Any) -> list[str]:
    """What axe finds serious or critical."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


def listed(page: Any) -> int:
    """How many cases the list has, by its own word."""
    return int(page.locator("#counted").inner_text().split()[0].replace(",", ""))


def in_every_look(page: Any, look_for: Callable[[Any], Any]) -> dict[Any, Any]:
    """What is found, by look; empty where there is nothing."""
    found = {}
    for scheme, (width, height) in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("new Promise(requestAnimationFrame)")
        if one := look_for(page):
            found[scheme, width] = one
    return found


def open_first(page: Any, situation: str) -> bool:
    """Go to the first case that is listed; whether there is one."""
    if not report_of(situation).cases:
        return False
    page.locator(FIRST).first.click()
    page.wait_for_selector(".case")
    return True


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_situation_is_shown_everywhere(
    situation: str, language: str, open_page: Opened
) -> None:
    """Overview and first case; nothing sticks out, nothing complains, nothing is fetched."""
    with open_page(situation, language=language) as page:
        assert page.locator("h1").inner_text()
        assert in_every_look(page, overflow) == {}
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        if open_first(page, situation):
            assert in_every_look(page, overflow) == {}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_nobody_is_kept_out(situation: str, open_page: Opened) -> None:
    """Axe has nothing serious to say of overview, case and help, light and dark, wide and small."""
    with open_page(situation) as page:
        assert in_every_look(page, serious) == {}
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        if open_first(page, situation):
            assert in_every_look(page, serious) == {}
        page.keyboard.press("?")
        assert serious(page) == []


def test_facets_narrow_the_list_and_say_how_many(open_page: Opened) -> None:
    """A status, then a cause within it; what a choice would leave stands beside it."""
    with open_page("large_700") as page:
        assert listed(page) == 2_000
        regressed = page.locator(".statuses button", has_text="Regressed")
        assert regressed.locator(".number").inner_text() == "700"
        regressed.click()
        assert listed(page) == 700
        page.locator(".facet summary", has_text="Cause").click()
        gone = page.locator(".choices label", has_text="get_order is no longer called")
        number = int(gone.locator(".number").inner_text())
        gone.click()
        assert listed(page) == number
        unchanged = page.locator(".statuses button", has_text="Unchanged")
        assert unchanged.locator(".number").inner_text() == "0"
        page.keyboard.press("Escape")
        page.locator("#clear").click()
        assert listed(page) == 2_000
        page.locator(".causes a").first.click()
        assert listed(page) == number


def test_search_reads_everything_and_says_when_there_is_nothing(open_page: Opened) -> None:
    """A tool's argument, a judge's word, an answer's; and a way back from nothing."""
    with open_page("long_conversation") as page:
        for query in ("kg 4.0", "price of every package", "SOMETHING ELSE"):
            page.locator("#search").fill(query)
            assert listed(page) == 1
            assert page.locator(FIRST).inner_text().startswith("two_packages")
        page.locator("#search").fill("nothing has this")
        assert page.locator("#nothing").is_visible()
        assert not page.locator("#list").is_visible()
        page.locator("#clear-all").click()
        assert listed(page) == len(report_of("long_conversation").cases)
        page.locator("#search").fill("contradictory")
        page.locator(FIRST).first.click()
        page.wait_for_selector(".case")
        assert page.evaluate("CSS.highlights.get('found').size") > 0


def test_a_link_leads_to_a_case_and_a_turn(open_page: Opened) -> None:
    """As the comment, an annotation and the terminal have it; back leads back."""
    cases = report_of("long_conversation").cases
    case = next(one for one in cases if one.eval_id == "two_packages")
    link = case_fragment(case.key, turn=1)
    with open_page("long_conversation", fragment=link) as page:
        assert page.locator(".case h2").inner_text() == "two_packages"
        assert page.locator("#turn-1").get_attribute("open") is not None
        assert page.locator("#turn-2").get_attribute("open") is None
        page.locator("a.back").click()
        assert page.locator("#overview").is_visible()
        page.go_back()
        assert page.locator(".case h2").inner_text() == "two_packages"
    with open_page("long_conversation", fragment="#case=nobody") as page:
        assert "nobody" in page.locator("#case").inner_text()


def test_what_is_shown_is_in_the_address(open_page: Opened) -> None:
    """Somebody who opens it elsewhere sees the same list and case."""
    with open_page("large_20") as page:
        page.locator("#search").fill("hotel")
        page.locator(".statuses button", has_text="Regressed").click()
        page.locator("#sort").select_option("name")
        page.locator(FIRST).nth(1).click()
        page.wait_for_selector(".case")
        fragment, number = page.evaluate("location.hash"), listed(page)
        name = page.locator(".case h2").inner_text()
    with open_page("large_20", fragment=fragment) as page:
        assert (listed(page), page.locator(".case h2").inner_text()) == (number, name)
        assert page.locator("#search").input_value() == "hotel"


def test_the_keyboard_is_enough(open_page: Opened) -> None:
    """Down, open, down, up, back, search, help."""
    with open_page("several_kinds") as page:
        first, second = (page.locator(FIRST).nth(n).get_attribute("data-id") for n in (0, 1))
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.dataset.id") == first
        assert page.locator("#overview").is_visible()
        page.keyboard.press("o")
        heading = page.locator(".case h2").inner_text()
        page.keyboard.press("j")
        assert page.locator(".case h2").inner_text() != heading
        assert page.evaluate("document.activeElement.dataset.id") == second
        page.keyboard.press("k")
        assert page.locator(".case h2").inner_text() == heading
        page.keyboard.press("Escape")
        assert page.locator("#overview").is_visible()
        page.keyboard.press("/")
        page.keyboard.type("jk?o")
        assert page.locator("#search").input_value() == "jk?o"
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()


@pytest.mark.parametrize("situation", ["several_kinds", "long_conversation"])
def test_on_paper_every_case_that_needs_attention_is_unfolded(
    situation: str, open_page: Opened
) -> None:
    """And taken away again afterwards."""
    view = build(report_of(situation), locale_of("en"), include_unchanged=True)
    wanted = [c.name for s in view.sections if s.group in ATTENTION for c in s.cases]
    with open_page(situation) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        names = page.locator("#paper .case h2").all_inner_texts()
        assert names == wanted
        assert page.locator("details:visible:not([open])").count() == 0
        assert page.locator("#list").is_hidden()
        assert page.pdf().startswith(b"%PDF")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("#paper .case").count() == 0


def test_hostile_words_never_come_alive(open_page: Opened) -> None:
    """Whatever a case, an agent or a judge says: the elements are ours."""
    with open_page("hostile_page") as page:
        for number in range(page.locator(FIRST).count()):
            page.locator(FIRST).nth(number).click()
            page.wait_for_selector(".case")
            for button in page.locator(".turn[open] .views button").all():
                button.click()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.title() != "owned"
        assert (
            page.locator("img, iframe, object, embed, link, base, form:not([method])").count() == 0
        )
        assert page.locator("script").count() == 2
        handlers = """() => [...document.querySelectorAll("*")].flatMap((one) =>
            one.getAttributeNames().filter((name) => name.startsWith("on")))"""
        assert page.evaluate(handlers) == []
        links = page.evaluate("() => [...document.links].map((one) => one.getAttribute('href'))")
        ours = ("#", f"{LINKS.files}/", LINKS.run)
        assert [one for one in links if not one.startswith(ours)] == []


def test_the_policy_holds(open_file: Opened, tmp_path: Path) -> None:
    """Were a text to become markup all the same, the page would not run or fetch it."""
    owned = "<script>document.title = 'owned'</script><img src=x onerror=document.title='owned'>"
    path = tmp_path / "hit.html"
    path.write_text(
        page_text("several_kinds", "en").replace("<main>", f"<main>{owned}"), encoding="utf-8"
    )
    with open_file(path, may_complain=True) as page:
        page.wait_for_selector("body.alive")
        assert page.title() != "owned"
        attempt = "try { document.body.innerHTML = '<b>x</b>' } catch (error) { return `${error}` }"
        assert "TrustedHTML" in page.evaluate(f"() => {{ {attempt} }}")


@pytest.mark.parametrize(("total", "broken"), [(2_000, 700), (10_000, 700)])
def test_only_what_is_in_sight_is_in_the_list(
    total: int, broken: int, open_file: Opened, tmp_path: Path
) -> None:
    """So thousands of cases are as quick as twenty; the seconds are printed, not judged."""
    from gradegate.report.render import render

    path = tmp_path / f"{total}.html"
    path.write_text(render(large(total, broken), "html"), encoding="utf-8")
    begun = perf_counter()
    with open_file(path) as page:
        page.wait_for_selector(FIRST)
        shown = perf_counter() - begun
        assert page.locator("#list li").count() < 60
        search = page.evaluate(
            """async () => {
              const begun = performance.now();
              const box = document.querySelector("#search");
              box.value = "refund lisbon";
              box.dispatchEvent(new Event("input"));
              await new Promise(requestAnimationFrame);
              return (performance.now() - begun) / 1000;
            }"""
        )
        assert 0 < listed(page) < total
        page.locator("#search").fill("")
        page.locator("#list").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
        page.wait_for_function(
            "(n) => document.querySelector('#list li:last-child').ariaPosInSet === String(n)",
            arg=total,
        )
        assert page.locator("#list li").count() < 60
    said = f"{path.stat().st_size / 1e6:.1f} MB, first list {shown:.2f} s, search {search:.2f} s"
    print(f"\n{total} cases, {broken} broken: {said}")


@pytest.mark.parametrize(("broken", "most"), [(20, 3_000_000), (700, 6_000_000)])
def test_two_thousand_cases_are_no_burden(broken: int, most: int) -> None:
    """One file, small enough for an artifact and a mail."""
    assert len(page_text(f"large_{broken}", "en").encode()) < most
