"""A report and its conversations in a real browser: quiet, self-contained, by keyboard, small and large."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_env.results import read_results, score_results, write_json
from attune_episodes import BUILTIN
from tests.command import attune, own, read, results
from tests.data.builders import folder, replaced, write
from tests.extras.chromium.browser import Page, browser

HOSTILE = '<script>document.title="run"</script><img src=x onerror="document.title=\'run\'">‮turned‬'
WIDTHS = (380, 1600)
TABLE = "document.getElementById('table-leaderboard')"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of every built-in policy on nine conversations; names and texts are hostile."""
    place = tmp_path_factory.mktemp("pages")
    made = {n: own(f"c-{n}", f"P{n}") for n in range(1, 10)}
    said = [HOSTILE, "é😀 שלום", "x" * 100_000, "a b " * 5_000, "</script></style>", "{{ 1 }} {% x %}"]
    for n, text in enumerate(said, 1):
        made[n] = replaced(made[n], ("turns", 0, "userMessage"), text)
    data = load(folder(place / "data", made))
    found = results(place / "results", data, *BUILTIN)
    for path in found.iterdir():
        record = read(path)
        if record["em_model"] == "builtin/lexicon":
            record["em_model"] = f"m/{HOSTILE}"
            record["turns"][0]["em_drafted_response"] = HOSTILE
            write(path, record)
    scored, problems, _ = read_results(found, data)
    assert problems == []
    write_json(place / "scores.json", score_results(scored, data, ground_truth="data", folder="results"))
    attune("report", "--scores", "scores.json", "-o", "out", "--formats", "svg", cwd=place)
    return place / "out"


def with_page(chromium: str, work: Callable[[Page], Awaitable[Any]]) -> None:
    """Runs a check in a fresh browser; nothing may be said on its console, nothing asked of the network."""

    async def run() -> None:
        async with browser(chromium) as page:
            await work(page)
            assert page.complaints == []
            assert [
                address[:80] for address in page.requests if not address.startswith(("file:", "data:"))
            ] == []

    asyncio.run(run())


def pages_of(report: Path) -> list[Path]:
    inside = report / "conversations"
    return [report / "report.html", inside / "index.html", inside / "c-1.html", inside / "c-3.html"]


def test_nothing_reaches_beyond_the_window_and_words_can_be_read(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        for path in pages_of(report):
            for width in WIDTHS:
                for dark in (False, True):
                    await page.open(path, width=width, dark=dark)
                    root = "document.documentElement"
                    over = await page.ask(f"{root}.scrollWidth - {root}.clientWidth")
                    assert over <= 0, (path.name, width)
                    sizes = await page.ask(
                        "[...document.querySelectorAll('p,li,td,th,dd,small,figcaption')]"
                        ".filter(e => e.textContent.trim() && e.getBoundingClientRect().width)"
                        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
                    )
                    assert min(sizes) >= 8, (path.name, width, min(sizes))

    with_page(chromium, work)


def test_words_stand_out_from_the_page_in_light_and_in_dark(chromium: str, report: Path) -> None:
    contrast = """
    (() => {
      const light = c => { const v = c.map(x => x / 255)
                             .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                           return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
      const rgb = s => (s.match(/[\\d.]+/g) || []).slice(0, 3).map(Number);
      const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                            if (c !== 'rgba(0, 0, 0, 0)') return rgb(c); } return [255, 255, 255]; };
      const words = 'p,li,td,th,dd,dt,a,small,summary,button,figcaption,h1,h2,h3,h4';
      return Math.min(...[...document.querySelectorAll(words)]
        .filter(e => e.textContent.trim() && e.getBoundingClientRect().width)
        .map(e => { const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
                    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }));
    })()"""

    async def work(page: Page) -> None:
        for path in pages_of(report):
            for dark in (False, True):
                await page.open(path, dark=dark)
                assert await page.ask(contrast) >= 4.5, (path.name, dark)  # WCAG AA

    with_page(chromium, work)


def test_tables_sort_and_filter_by_keyboard(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        await page.open(report / "report.html")
        column = (
            f"[...{TABLE}.tBodies[0].rows].filter(r => !r.hidden).map(r => Number(r.cells[2].dataset.value))"
        )
        before = await page.ask(column)
        assert len(before) > 7
        await page.ask(f"{TABLE}.tHead.rows[0].cells[2].querySelector('button').focus()")
        for key, order, state in (("Enter", sorted(before, reverse=True), "descending"),
                                  (" ", sorted(before), "ascending")):  # fmt: skip
            await page.press(key)
            assert await page.ask(column) == order
            assert await page.ask(f"{TABLE}.tHead.rows[0].cells[2].getAttribute('aria-sort')") == state
            assert state in await page.ask("document.getElementById('said').textContent")
        await page.ask("document.querySelector('input[data-filters=\"table-leaderboard\"]').focus()")
        await page.write("builtin oracle")
        assert await page.ask(f"[...{TABLE}.tBodies[0].rows].filter(r => !r.hidden).length") == 1
        assert await page.ask("document.getElementById('table-leaderboard-count').textContent") == (
            f"1 of {len(before)}"
        )

    with_page(chromium, work)


def test_the_list_finds_what_was_said(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        await page.open(report / "conversations" / "index.html")
        rows = "[...document.getElementById('conversations').tBodies[0].rows].filter(r => !r.hidden)"
        assert await page.ask(f"{rows}.length") == 9
        await page.ask("document.querySelector('input[data-filters]').focus()")
        await page.write("שלום")
        assert await page.ask(f"{rows}.map(r => r.cells[0].textContent)") == ["c-2"]

    with_page(chromium, work)


def test_every_control_is_reached_by_tab(chromium: str, report: Path) -> None:
    wanted = (
        "[...document.querySelectorAll('a[href],button,input,select,summary,[tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility() && !e.disabled)"
    )

    async def work(page: Page) -> None:
        for path in pages_of(report)[:3]:
            await page.open(path)
            number = await page.ask(f"{wanted}.length")
            assert number > 5
            await page.ask("window.reached = new Set(); document.addEventListener('focusin',"
                           " e => window.reached.add(e.target)); 0")  # fmt: skip
            for _ in range(number + 5):
                await page.press("Tab")
            assert await page.ask(f"{wanted}.filter(e => !window.reached.has(e)).map(e => e.outerHTML)") == []

    with_page(chromium, work)


def test_the_theme_is_chosen_by_a_button_and_kept(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        colour = "getComputedStyle(document.body).backgroundColor"
        await page.open(report / "report.html", dark=False)
        light = await page.ask(colour)
        await page.ask("document.getElementById('theme').focus()")
        await page.press("Enter")
        dark = await page.ask(colour)
        assert dark != light
        assert await page.ask("document.getElementById('theme').textContent") == "Light page"
        turned = "[...document.querySelectorAll('.figure img')].map(e => getComputedStyle(e).filter)"
        assert set(await page.ask(turned)) == {"invert(1) hue-rotate(180deg)"}

    with_page(chromium, work)


def test_hostile_texts_are_shown_and_never_run(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        for path in (report / "report.html", report / "conversations" / "c-1.html"):
            await page.open(path)
            assert await page.ask("document.title") != "run"
            assert await page.ask("document.querySelectorAll('img:not(.figure img)').length") == 0
            shown = await page.ask("document.body.textContent")
            assert '<script>document.title="run"</script>' in shown
            assert "‮" not in shown

    with_page(chromium, work)


def test_what_slips_through_the_escaping_is_stopped(chromium: str, report: Path, tmp_path: Path) -> None:
    async def run() -> None:
        text = (report / "report.html").read_text(encoding="utf-8")
        added = '<main id="main"><script>document.title="run"</script><img src="http://a.b/c">'
        changed = tmp_path / "changed.html"
        changed.write_text(text.replace('<main id="main">', added), encoding="utf-8")
        async with browser(chromium) as page:
            await page.open(changed)
            assert await page.ask("document.title") != "run"
            assert len(page.complaints) == 2  # the console names both
            assert page.blocked == ["csp"]  # the picture; the script was no request

    asyncio.run(run())


def test_a_closed_table_opens_for_a_link_into_it(chromium: str, report: Path) -> None:
    async def work(page: Page) -> None:
        await page.open(report / "report.html")
        closed = "document.querySelector('details.finding')"
        assert await page.ask(f"{closed}.open") is False
        name = await page.ask(f"{closed}.querySelector('table').id")
        await page.ask(f"location.hash = {name!r}; new Promise(done => setTimeout(done, 200))")
        assert await page.ask(f"{closed}.open") is True

    with_page(chromium, work)
