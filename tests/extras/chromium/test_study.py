"""A participation in a real browser: by keyboard alone, at 380 px, while the server is killed twice."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from attune_data.format.validate import oddities
from attune_env.study.events import Store
from attune_env.study.export import export
from tests.command import ATTUNE
from tests.extras.chromium.browser import Page, browser
from tests.study.places import small

WIDTH = 380
MOST_KEYS = 400
"""Tabs on one page: more would mean that the keyboard does not reach everything."""
FOCUS = """(() => {
  const one = document.activeElement, name = one.name || "";
  const filled = name && document.querySelector(`[name="${CSS.escape(name)}"]:checked`) !== null;
  return {tag: one.tagName, type: one.type || "", name, value: one.value || "", filled};
})()"""
STATE = """({
  step: (document.querySelector("main form") || {action: ""}).action.split("/").pop(),
  waits: document.querySelector("[data-ready]") !== null,
  wide: document.documentElement.scrollWidth,
  down: window.scrollY,
})"""


class Server:
    """The command, on one port, as often as it is killed."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder = folder
        self.start()

    def start(self) -> None:
        command = [str(ATTUNE), "study", "serve", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self.process.stdout.readline()  # once it is ready

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


async def fill(page: Page) -> None:
    """Answers a page by keyboard and sends it: every group by its first option, no feeling, a text."""
    for _ in range(MOST_KEYS):
        await page.press("Tab")
        on: dict[str, Any] = await page.ask(FOCUS)
        if on["tag"] == "TEXTAREA" and on["name"] in ("message", "reply"):
            await page.write(f"Typed by keyboard into {on['name']}. ")
        elif on["type"] in ("radio", "checkbox") and not on["filled"]:
            if on["name"] != "nothing" or (await page.ask(STATE))["step"].startswith("say"):
                await page.press(" ")
        elif on["tag"] == "BUTTON" and on["value"] == "save":
            page._loaded.clear()
            await page.press("Enter")
            return
    raise AssertionError("no button to save")


async def play(page: Page, server: Server, link: str) -> list[str]:
    """Plays to the end; kills the server before the first edit is sent, and after the last feelings were."""
    steps: list[str] = []
    await page.open(link, width=WIDTH, height=800)
    while True:
        at = await page.ask(STATE)
        assert at["wide"] <= WIDTH, at
        # only a conversation opens where it goes on; every other page opens at its title
        assert not at["down"] or at["waits"] or at["step"].startswith("say"), at
        if at["waits"]:
            await asyncio.sleep(0.2)
            continue
        if not at["step"]:
            return steps
        if at["step"] == "edit.1" and steps[-1] != "killed":
            server.kill()
            await fill(page)
            await asyncio.sleep(0.5)
            server.start()
            steps.append("killed")
            await page.open(link, width=WIDTH, height=800)
            continue
        await fill(page)
        steps.append(at["step"])
        await asyncio.wait_for(page._loaded.wait(), 30)
        if at["step"] == "post":
            server.kill()
            server.start()
            steps.append("killed")
            await page.open(link, width=WIDTH, height=800)


def test_a_participation_by_keyboard_survives_two_kills(chromium: str, tmp_path: Path) -> None:
    study = small(tmp_path / "s")
    with Store(study.database) as store:
        code = store.link(store.invite(9e9))
    server = Server(study.folder)

    async def run() -> list[str]:
        async with browser(chromium) as page:
            steps = await play(page, server, f"http://127.0.0.1:{server.port}/{code}")
            local = (f"http://127.0.0.1:{server.port}/", "data:", "chrome-error:")
            assert [address for address in page.requests if not address.startswith(local)] == []
            assert page.blocked == []
            return steps

    try:
        steps = asyncio.run(asyncio.wait_for(run(), 300))
    finally:
        server.kill()
    counted = Counter(steps)
    assert counted.pop("killed") == 2
    assert set(counted.values()) == {1}
    with Store(study.database) as store:
        (conversation,), _ = export(study, store)
    assert list(oddities(conversation, "")) == []
    assert conversation.turns[0].user_message == "Typed by keyboard into message."
    assert "Typed by keyboard into reply." in str(conversation.turns[0].responses["human"])
