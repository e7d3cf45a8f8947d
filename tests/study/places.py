"""Studies in a folder, with an endpoint or without, and people who take part in them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from attune_env.study.events import State, Store
from attune_env.study.folder import Study, new_study, read_study
from attune_env.study.scripted import Page, Participant
from attune_env.study.serving import serving
from tests import PATIENCE

MODEL = """
[[assistants]]
model = "m"
base_url = "URL"
price_in = 1000.0
price_out = 1000.0
"""
SMALL = (
    ("min_turns = 3", "min_turns = 1"), ("max_turns = 6", "max_turns = 2"),
    ('binary = "core"', 'binary = ["B1", "B13"]'), ("drawn = 3", "drawn = 1"), ("FILL IN:", "Some:"),
)  # fmt: skip
"""Changes that make a study short and complete."""


def small(folder: Path, url: str | None = None, *changes: tuple[str, str]) -> Study:
    """A short study in a new folder, whose assistant is behind `url` if there is one."""
    path = new_study(folder)
    text = path.read_text(encoding="utf-8")
    for old, new in (*SMALL, *changes):
        assert old in text, old
        text = text.replace(old, new)
    if url is not None:
        text = text.replace("[budget]", f"{MODEL.replace('URL', url)}\n[budget]")
    path.write_text(text, encoding="utf-8")
    return read_study(folder)


@dataclass
class Place:
    """A study that is being served."""

    study: Study
    store: Store
    url: str

    def invite(self, seconds: float = 1000.0) -> str:
        """The link of a new participant."""
        return f"{self.url}/{self.store.link(self.store.invite(time.time() + seconds))}"

    def state(self, link: str) -> State:
        """What the holder of a link has answered."""
        state = self.store.holder(link.rpartition("/")[2])
        assert state is not None
        return state


@contextmanager
def served(study: Study) -> Iterator[Place]:
    """The study on a free port, in this process."""
    with Store(study.database) as store, serving(study, store) as url:
        yield Place(study, store, url)


def browser() -> httpx.Client:
    """A client that follows redirects, as browsers do."""
    return httpx.Client(follow_redirects=True, timeout=PATIENCE, trust_env=False)


def send(client: httpx.Client, link: str, page: Page, form: Mapping[str, Any], **more: Any) -> httpx.Response:
    """Send the form of a page."""
    return client.post(str(httpx.URL(link).join(page.action)), data=dict(form), **more)


def until(client: httpx.Client, link: str, step: str) -> Page:
    """The first page of a kind, after answering everything before it."""
    person = Participant(link)
    for _ in range(100):
        page = Page(client.get(link).text)
        if page.step.partition(".")[0] == step:
            return page
        if page.buttons:
            send(client, link, page, person.answers(page))
        else:
            time.sleep(0.05)
    raise AssertionError(f"no page {step}")
