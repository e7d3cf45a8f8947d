"""`View`: what the page of a step knows: the study, the participant, and what follows from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, count
from typing import Any

from attune_data.format.constants import PAIRWISE_IDS, RESPONSES
from attune_data.seeding import digest
from attune_env.study.events import State
from attune_env.study.folder import Study
from attune_env.study.questions import QuestionPage


@dataclass(frozen=True)
class View:
    """A step of one participant: what its page needs to know."""

    study: Study
    state: State
    step: str

    @property
    def kind(self) -> str:
        """The step's kind, its entry in `STEPS`."""
        return self.step.partition(".")[0]

    @property
    def number(self) -> int:
        """The turn that the step is about; 0 for none."""
        name = self.step.partition(".")[2]
        return int(name) if name.isdecimal() else 0

    @property
    def page(self) -> QuestionPage:
        """The further page that the step shows."""
        return next(page for page in self.study.design.pages if page.id == self.step.partition(".")[2])

    @cached_property
    def turns(self) -> list[dict[str, Any]]:
        """The turns so far: number, message and reply ("" while there is none)."""
        found = []
        for number in count(1):
            said = self.state.answer(f"say.{number}").get("message")
            if not said:
                break
            reply = self.state.answer(f"reply.{number}").get("text") or ""
            found.append({"number": number, "message": said, "reply": reply})
        return found

    def word(self, name: str, **given: object) -> str:
        """A text of the pages."""
        return self.study.design.texts[name].format(**given)

    def draw(self, items: Sequence[Any], *what: object) -> list[Any]:
        """The items in an order that is the same whenever the page is shown."""
        place = (self.state.participant, self.number, *what)
        return sorted(items, key=lambda item: digest(*place, item))

    @cached_property
    def replies(self) -> dict[str, str]:
        """The three responses to a turn by name; equal texts and missing ones are left out."""
        texts = {
            "original": self.state.answer(f"reply.{self.number}").get("text"),
            "alternate": self.state.answer(f"alternate.{self.number}").get("text"),
            "human": self.state.answer(f"edit.{self.number}").get("reply"),
        }
        found: dict[str, str] = {}
        for name in RESPONSES:
            if (text := texts[name]) and text not in found.values():
                found[name] = text
        return found

    @cached_property
    def masked(self) -> list[tuple[str, str]]:
        """(response, its text) in the order in which they are numbered on the page."""
        return [(name, self.replies[name]) for name in self.draw(list(self.replies), "label")]

    @cached_property
    def comparisons(self) -> list[dict[str, str]]:
        """Each comparison of the turn: its question, and which responses are on the left and the right."""
        drawn = self.draw(PAIRWISE_IDS[1:], "drawn")[: self.study.design.questions.drawn]
        found = []
        for question in ("general", *drawn):
            for pair in self.draw(list(combinations(self.replies, 2)), question):
                left, right = self.draw(pair, question, "side", *pair)
                found.append({"questionId": question, "responseA": left, "responseB": right})
        return found

    def assigned(self, what: str, number: int) -> int:
        """Which of so many things the participant is given."""
        return int.from_bytes(digest(self.state.participant, what)[:8], "big") % number

    @property
    def topic(self) -> str:
        """The topic that was assigned or chosen; "" while there is none."""
        return str(self.state.answer("topic").get("topic") or self.state.answer("consent").get("topic") or "")
