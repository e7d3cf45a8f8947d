"""Headless Chromium, driven over its DevTools protocol: pages looked at as people and keyboards see them."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from tests import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-domain-reliability", "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0",
    "--force-color-profile=srgb",
)  # fmt: skip
"""Nothing outside this machine can be reached: every host name but loopback is one that does not exist."""
Json = dict[str, Any]


def find_chromium() -> str | None:
    """The path of a Chromium, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab, and everything that happened in it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._loaded = asyncio.Event()
        self.requests: list[str] = []
        """Addresses that the page asked for."""
        self.blocked: list[str] = []
        """Why requests did not leave the page: `csp` for its own policy."""
        self.complaints: list[str] = []
        """Console errors and warnings, uncaught exceptions, violations of the content policy."""
        self._reader = asyncio.create_task(self._read())

    async def __aenter__(self) -> Self:
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.call(f"{domain}.enable")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.cancel()

    async def call(self, method: str, **parameters: Any) -> Json:
        """One DevTools command and its result."""
        number = next(self._numbers)
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        answer = await asyncio.wait_for(future, PATIENCE)
        assert "error" not in answer, (method, answer["error"])
        result: Json = answer["result"]
        return result

    async def open(
        self, path: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> None:
        """Loads a file or an address in a window of that size."""
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                        deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded.clear()
        await self.call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        await asyncio.wait_for(self._loaded.wait(), PATIENCE)

    async def ask(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        found = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    async def press(self, key: str, *, shift: bool = False) -> None:
        """One key, as a keyboard sends it."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        told: Json = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **told)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    async def write(self, text: str) -> None:
        """Types text into what has the focus."""
        await self.call("Input.insertText", text=text)

    async def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot as PNG: of the window, or of the whole page."""
        clip: Json = {}
        if whole:
            size = (await self.call("Page.getLayoutMetrics"))["cssContentSize"]
            clip = {
                "captureBeyondViewport": True,
                "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1},
            }
        shot = await self.call("Page.captureScreenshot", format="png", **clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    async def _read(self) -> None:
        async for message in self._socket:
            event = json.loads(message.data)
            if "id" in event:
                future = self._waiting.pop(event["id"])
                if not future.done():
                    future.set_result(event)
                continue
            told = event["params"]
            match event["method"]:
                case "Page.loadEventFired":
                    self._loaded.set()
                case "Network.requestWillBeSent":
                    self.requests.append(told["request"]["url"])
                case "Network.loadingFailed" if "blockedReason" in told:
                    self.blocked.append(told["blockedReason"])
                case "Runtime.exceptionThrown":
                    self.complaints.append(json.dumps(told["exceptionDetails"])[:500])
                case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                    self.complaints.append(json.dumps(told["args"])[:500])
                case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                    self.complaints.append(json.dumps(told["entry"])[:500])


@asynccontextmanager
async def browser(executable: str) -> AsyncIterator[Page]:
    """A Chromium with a profile of its own, gone afterwards; gives its one tab."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(profile) / "DevToolsActivePort", process)
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as listed:
                    tabs = [tab for tab in await listed.json() if tab["type"] == "page"]
                address = tabs[0]["webSocketDebuggerUrl"]
                async with session.ws_connect(address, max_msg_size=0) as socket, Page(socket) as page:
                    yield page
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


async def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that the browser listens on, once it says so."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"Chromium ended at once, with exit code {process.returncode}")
        if file.exists() and (lines := file.read_text().split()):
            return int(lines[0])
        await asyncio.sleep(0.05)
    raise TimeoutError(f"Chromium did not start within {PATIENCE:.0f} s")
