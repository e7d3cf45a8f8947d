"""Scripted participants: they fill in the real pages over HTTP, whatever the study asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

import httpx

from attune_data.errors import AttuneError, show
from attune_data.seeding import digest
from attune_env.study.steps import NOTHING

MOST_PAGES: Final = 500
"""The most pages of one participation: more would mean that it goes in a circle."""
MOST_TRIES: Final = 5
"""How often a model that failed is tried before the participant goes on without it."""
PAUSE: Final = 0.2
"""Seconds before a page that waits for a model is looked at again."""
_MESSAGES: Final = (
    "My manager moved my project to someone else without asking me. I found out in the team meeting.",
    "I have been looking forward to the trip with my sister for months, and now it is two weeks away.",
    "My son starts school on Monday. I am proud of him, and I keep thinking of what may go wrong.",
    "I do not want advice right now, I think. It just feels unfair, and I keep going over it.",
    "That helps a bit. Maybe I should talk to her first, before I decide anything.",
    "I am still not sure, but I know what I want to say now. Thank you.",
)
_OPENINGS: Final = ("I understand. ", "That makes sense to me. ", "Take your time. ")


@dataclass
class Page(HTMLParser):
    """A page as a browser without scripts sees it."""

    html: str
    title: str = ""
    action: str = ""
    """Where the last form is sent."""
    radios: dict[str, list[str]] = field(default_factory=dict)
    boxes: dict[str, list[str]] = field(default_factory=dict)
    selects: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Name -> what stands there."""
    buttons: list[str] = field(default_factory=list)
    """The values of the buttons of the last form."""
    _open: str = ""
    _select: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a field, a form or a button."""
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        self._open = tag
        if tag == "form":
            self.action, self.buttons = given["action"], []
        elif tag == "button":
            self.buttons.append(given["value"])
        elif tag == "textarea":
            self._select = name
            self.texts[name] = ""
        elif tag == "select":
            self._select = name
            self.selects[name] = []
        elif tag == "option" and given.get("value"):
            self.selects[self._select].append(given["value"])
        elif tag == "input":
            kind = given.get("type")
            held = self.radios if kind == "radio" else self.boxes if kind == "checkbox" else None
            if held is None:
                self.texts[name] = given.get("value", "")
            else:
                held.setdefault(name, []).append(given["value"])

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        self._open = ""

    def handle_data(self, data: str) -> None:
        """Note the text of the title or of a field."""
        if self._open == "h1":
            self.title += data
        elif self._open == "textarea":
            self.texts[self._select] += data

    @property
    def step(self) -> str:
        """The step that the form answers."""
        return self.action.rpartition("/")[2]


@dataclass
class Participant:
    """One scripted participant."""

    link: str
    """The whole address."""
    pause: Callable[[float], None] = time.sleep
    slowest: float = 0.0
    """Seconds of the slowest page."""
    tried: dict[str, int] = field(default_factory=dict)
    """Step -> how often its page offered to try again."""

    def choose(self, items: Sequence[str], *what: object) -> str:
        """One of several, always the same for this participant and this question."""
        return items[digest(self.link, *what)[0] % len(items)]

    def answers(self, page: Page) -> dict[str, str | list[str]]:
        """What this participant enters on a page."""
        step = page.step
        form: dict[str, str | list[str]] = {
            name: self.choose(values, step, name) for name, values in page.radios.items()
        }
        for name, values in page.boxes.items():
            if name != NOTHING:
                form[name] = [self.choose(values, step, name)]
        if page.selects:
            felt = [name for name in page.selects if digest(self.link, step, name)[0] < 30]
            form |= {name: self.choose(page.selects[name], step, name, "how") for name in felt}
            if not felt:
                form[NOTHING] = "yes"
        for name, standing in page.texts.items():
            if name == "reply":
                form[name] = self.choose(_OPENINGS, step) + standing.strip()
            elif name == "message":
                form[name] = self.choose(_MESSAGES, step)
            elif name != "words":
                form[name] = "5"
        last = [button for button in page.buttons if button == "end" and digest(self.link, step)[0] < 100]
        if "again" in page.buttons:
            self.tried[step] = self.tried.get(step, 0) + 1
            return {"do": "again" if self.tried[step] < MOST_TRIES else "leave"}
        return form | {"do": last[0] if last else "save"}

    def walk(self) -> Iterator[Page]:
        """Go through the study, yielding each page before it is answered, and at last the final one."""
        with httpx.Client(timeout=120, trust_env=False) as client:
            page = self._fetch(client.get, self.link)
            for _ in range(MOST_PAGES):
                yield page
                if page.buttons:
                    address = str(httpx.URL(self.link).join(page.action))
                    page = self._fetch(client.post, address, data=self.answers(page))
                elif 'data-ready="' in page.html:
                    self.pause(PAUSE)
                    page = self._fetch(client.get, self.link)
                else:
                    return
        raise AttuneError(f"{self.link}: more than {MOST_PAGES} pages; the last is {show(page.title)}")

    def play(self) -> None:
        """Go through the study to its end."""
        for _ in self.walk():
            pass

    def _fetch(self, send: Callable[..., httpx.Response], address: str, **more: Mapping[str, object]) -> Page:
        begun = time.monotonic()
        response = send(address, follow_redirects=True, **more)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        if response.status_code != 200:
            raise AttuneError(f"{address} answers {response.status_code}: {show(Page(response.text).title)}")
        return Page(response.text)


def play_all(
    links: Sequence[str], *, at_once: int = 5, pause: Callable[[float], None] = time.sleep
) -> list[Participant]:
    """Have a scripted participant use each link, so many at a time; raises AttuneError if one gets stuck."""
    people = [Participant(link, pause) for link in links]

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(Participant.play, people))
    return people
