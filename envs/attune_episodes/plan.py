"""`plan`: the fixed list of requests that a conversation comes to.

A pure function of (conversation, settings). Since a model's own answers never return as context, no
request depends on a reply: the requests of a subset of stages are the same as in the full protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attune_data.affect import EMOTIONS, POSITIVE
from attune_data.constants import BRANCHES
from attune_data.memo import memoised
from attune_data.schema import Conversation, Turn
from attune_episodes import answers
from attune_episodes.background import background_lines
from attune_episodes.request import Message, Request
from attune_episodes.settings import Settings
from attune_episodes.shown import label_responses, show_comparisons
from attune_rewards.predictions import Stage
from attune_rewards.spec import is_asked
from attune_rewards.truth import TurnTruth, truth_of

OPTION_FIELDS = ("q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff")


def plan(conversation: Conversation, settings: Settings | None = None) -> tuple[Request, ...]:
    """The requests of an episode, in the protocol's order (kept on the conversation once made).

    Per turn draft, assess, assess_hp, prefer, then reflect; only the stages of the settings, and only
    where there is something to ask: no applicable question, no assess_hp; no comparison, no prefer.
    """
    if not isinstance(conversation, Conversation):
        raise TypeError(f"a plan is of one Conversation, got {type(conversation).__name__}")
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings are a Settings(…), got {type(settings).__name__}")
    asked = settings or Settings()
    return memoised(conversation, "plans", asked.key, lambda: tuple(_Planner(conversation, asked).requests()))


class _Planner:
    """Builds the requests of one conversation turn by turn."""

    def __init__(self, conversation: Conversation, settings: Settings) -> None:
        self.conversation = conversation
        self.settings = settings
        self.prompts = settings.prompt_set
        self.thread: list[Message] = [self._message("system", self._render("system", {}))]
        self.background = ""
        if settings.omniscient:
            lines = background_lines(conversation)
            self.background = self._render("background", {"background": lines}) + "\n\n"

    def _message(self, role: str, content: str) -> Message:
        return Message(role, content)

    def _render(self, template: str, values: dict[str, Any]) -> str:
        return self.prompts.render(template, values)

    def requests(self) -> Iterator[Request]:
        truth = truth_of(self.conversation)
        history: tuple[tuple[str, str], ...] = ()
        for turn, turn_truth in zip(self.conversation.turns, truth.turns, strict=True):
            yield from self._turn(turn, turn_truth, history)
            history = (*history, (turn.user_message, turn.llm_response))
        if "reflect" in self.settings.stages:
            yield self._reflect(history)

    def _turn(self, turn: Turn, truth: TurnTruth, history: tuple[tuple[str, str], ...]) -> Iterator[Request]:
        base: dict[str, Any] = {
            "turn": turn.turn_number,
            "user_message": turn.user_message,
            "history": history,
            "verbose": self.settings.verbose,
            # in a thread the background opens turn 1; without a thread every message stands alone
            "background": self.background if not self.prompts.threaded or not history else "",
        }
        shared = {"history": history, "user_message": turn.user_message}
        draft_text = self._render("draft", base)
        yield from self._ask("draft", turn, draft_text, **shared)
        self._elide(draft_text)

        base["reply"] = shared["reply"] = turn.llm_response
        assess_text = self._render("assess", base | self._assess_values(turn, truth))
        asked = {"questions": truth.applicable}
        yield from self._ask("assess", turn, assess_text, **shared, **asked)
        self._elide(assess_text)

        if "assess_hp" in self.settings.stages and is_asked("assess_hp", truth):
            values = {"questions": self._questions(truth.applicable, observer=False)}
            text = self._render("assess_hp", base | values)
            yield from self._ask("assess_hp", turn, text, **shared, **asked)
        if "prefer" in self.settings.stages and is_asked("prefer", truth):
            yield from self._prefer(turn, truth, base, shared)

    def _ask(self, stage: Stage, turn: Turn, text: str, **parts: Any) -> Iterator[Request]:
        """The request of a stage, if the settings ask it: the thread so far and this message."""
        if stage in self.settings.stages:
            yield self._request(stage, turn.turn_number, text, **parts)

    def _request(self, stage: Stage, turn: int | None, text: str, **parts: Any) -> Request:
        return Request(
            conversation_id=self.conversation.conversation_id,
            turn=turn,
            stage=stage,
            messages=(*self.thread, self._message("user", text)),
            verbose=self.settings.verbose,
            **parts,
        )

    def _elide(self, text: str) -> None:
        """Adds a message to the thread, its answer replaced by the placeholder."""
        if self.prompts.threaded:
            self.thread.append(self._message("user", text))
            self.thread.append(self._message("assistant", self.prompts.placeholder))

    def _questions(self, ids: tuple[str, ...], *, observer: bool) -> list[tuple[str, str]]:
        book = self.settings.codebook
        return [(id_, book.binary_text(id_, observer=observer)) for id_ in ids]

    def _assess_values(self, turn: Turn, truth: TurnTruth) -> dict[str, Any]:
        listed = dict.fromkeys(judgement.question_id for judgement in turn.judgements)
        return {
            "mood_question": self.settings.codebook.questions["moodShiftTags"].observer,
            "emotions": EMOTIONS,
            "questions": self._questions(truth.applicable, observer=True),
            "not_applicable": [id_ for id_ in listed if id_ not in truth.applicable],
        }

    def _prefer(
        self, turn: Turn, truth: TurnTruth, base: dict[str, Any], shared: dict[str, Any]
    ) -> Iterator[Request]:
        settings, book = self.settings, self.settings.codebook
        masked, place = settings.labels == "masked", (settings.seed, self.conversation.conversation_id)
        labels = label_responses(turn, place, masked=masked)
        comparisons = show_comparisons(turn, labels, place, masked=masked)
        texts = {label: truth.responses[name] or "" for label, name in labels.items()}
        asked = sorted({c.question for c in comparisons}, key=lambda q: (q != "general", len(q), q))
        values = {
            "responses": list(texts.items()),
            "comparisons": comparisons,
            "pairwise_questions": [(q, book.pairwise_text(q)) for q in asked],
        }
        text = self._render("prefer", base | values)
        yield self._request(
            "prefer",
            turn.turn_number,
            text,
            responses=texts,
            comparisons=comparisons,
            shown_labels=labels,
            **shared,
        )

    def _reflect(self, history: tuple[tuple[str, str], ...]) -> Request:
        settings, book = self.settings, self.settings.codebook
        strategy = settings.panas_strategy
        wants_change = strategy != "absolute"
        before = truth_of(self.conversation).pre_totals
        pre_totals = None
        if strategy != "blind_delta" and before.positive is not None and before.negative is not None:
            pre_totals = (before.positive, before.negative)
        values: dict[str, Any] = {
            "history": history,
            "verbose": settings.verbose,
            "background": "" if self.prompts.threaded else self.background,
            "emotions": EMOTIONS,
            "feelings": [(name, book.panas.get(name, "")) for name in EMOTIONS],
            "positive": POSITIVE,
            "pre_totals": pre_totals and tuple(f"{total:g}" for total in pre_totals),
            "wants_change": wants_change,
            "panas_field": answers.PANAS_CHANGE if wants_change else answers.PANAS_ITEMS,
            "branches": [(name, book.branches[name].observer) for name in BRANCHES],
        }
        for short, name in zip(("q1", "q2", "q3", "follow_up"), OPTION_FIELDS, strict=True):
            values[short] = {"text": book.questions[name].observer, "options": book.options[name]}
        return self._request(
            "reflect",
            None,
            self._render("reflect", values),
            history=history,
            options={name: book.options[name] for name in OPTION_FIELDS},
            pre_totals=pre_totals,
            wants_change=wants_change,
        )
