"""`plan`: the fixed list of requests for a conversation.

It is a pure function of (conversation, settings). Since a model's own answers never become context, no
request depends on a reply, and the requests of a subset of stages are the same as in the full protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attune_data.format.affect import EMOTIONS, POSITIVE
from attune_data.format.constants import BRANCHES
from attune_data.format.schema import Conversation, Turn
from attune_episodes.protocol import schemas
from attune_episodes.protocol.background import background_lines
from attune_episodes.protocol.request import Message, Request
from attune_episodes.protocol.settings import Settings
from attune_episodes.protocol.shown import label_responses, show_comparisons
from attune_rewards.predictions import Stage
from attune_rewards.reward.spec import is_asked
from attune_rewards.truth import TurnTruth, truth_of

OPTION_FIELDS = ("q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff")


def plan(conversation: Conversation, settings: Settings | None = None) -> tuple[Request, ...]:
    """The requests of an episode, in the protocol's order (cached on the conversation).

    Each turn has draft, assess, assess_hp and prefer, and reflect comes last; only the stages in the settings
    are included, and only if they have something to ask: assess_hp needs an applicable question, and prefer a
    comparison.
    """
    if not isinstance(conversation, Conversation):
        raise TypeError(f"plan expects one Conversation, got {type(conversation).__name__}")
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings must be a Settings(…), got {type(settings).__name__}")
    asked = settings or Settings()
    return conversation.memoised("plans", asked.key, lambda: tuple(_Planner(conversation, asked).requests()))


class _Planner:
    """Builds the requests of one conversation turn by turn."""

    def __init__(self, conversation: Conversation, settings: Settings) -> None:
        self.conversation, self.settings = conversation, settings
        self.prompts, self.book = settings.prompt_set, settings.codebook
        self.thread = [Message("system", self.prompts.render("system", {}))]
        self.background = ""
        if settings.omniscient:
            lines = background_lines(conversation)
            self.background = self.prompts.render("background", {"background": lines}) + "\n\n"

    def requests(self) -> Iterator[Request]:
        history: tuple[tuple[str, str], ...] = ()
        for turn, truth in zip(self.conversation.turns, truth_of(self.conversation).turns, strict=True):
            yield from self._turn(turn, truth, history)
            history = (*history, (turn.user_message, turn.llm_response))
        if "reflect" in self.settings.stages:
            yield self._reflect(history)

    def _turn(self, turn: Turn, truth: TurnTruth, history: tuple[tuple[str, str], ...]) -> Iterator[Request]:
        stages, number = self.settings.stages, turn.turn_number
        shared: dict[str, Any] = {"history": history, "user_message": turn.user_message}
        base = shared | {
            "turn": number,
            "verbose": self.settings.verbose,
            # in a thread, the background precedes turn 1; without a thread, every message is self-contained
            "background": self.background if not self.prompts.threaded or not history else "",
        }
        draft_text = self.prompts.render("draft", base)
        if "draft" in stages:
            yield self._request("draft", number, draft_text, **shared)
        self._elide(draft_text)

        base["reply"] = shared["reply"] = turn.llm_response
        asked = shared | {"questions": truth.applicable}
        assess_text = self.prompts.render("assess", base | self._assess_values(turn, truth))
        if "assess" in stages:
            yield self._request("assess", number, assess_text, **asked)
        self._elide(assess_text)

        if "assess_hp" in stages and is_asked("assess_hp", truth):
            values = base | {"questions": self._questions(truth.applicable, observer=False)}
            yield self._request("assess_hp", number, self.prompts.render("assess_hp", values), **asked)
        if "prefer" in stages and is_asked("prefer", truth):
            shown, values = self._compared(turn, truth)
            text = self.prompts.render("prefer", base | values)
            yield self._request("prefer", number, text, **shared, **shown)

    def _request(self, stage: Stage, turn: int | None, text: str, **parts: Any) -> Request:
        """Make the request of a stage: the thread so far plus this message."""
        name, messages = self.conversation.conversation_id, (*self.thread, Message("user", text))
        return Request(name, turn, stage, messages, self.settings.verbose, **parts)

    def _elide(self, text: str) -> None:
        """Add a message to the thread, followed by the placeholder for its answer."""
        if self.prompts.threaded:
            self.thread += [Message("user", text), Message("assistant", self.prompts.placeholder)]

    def _questions(self, ids: tuple[str, ...], *, observer: bool) -> list[tuple[str, str]]:
        return [(id_, self.book.binary_text(id_, observer=observer)) for id_ in ids]

    def _assess_values(self, turn: Turn, truth: TurnTruth) -> dict[str, Any]:
        listed = dict.fromkeys(judgement.question_id for judgement in turn.judgements)
        return {
            "mood_question": self.book.questions["moodShiftTags"].observer,
            "emotions": EMOTIONS,
            "questions": self._questions(truth.applicable, observer=True),
            "not_applicable": [id_ for id_ in listed if id_ not in truth.applicable],
        }

    def _compared(self, turn: Turn, truth: TurnTruth) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields of the request, and the values for its template."""
        place = (self.settings.seed, self.conversation.conversation_id)
        masked = self.settings.labels == "masked"
        labels = label_responses(turn, place, masked=masked)
        comparisons = show_comparisons(turn, labels, place, masked=masked)
        texts = {label: truth.responses[name] or "" for label, name in labels.items()}
        asked = sorted({c.question for c in comparisons}, key=lambda q: (q != "general", len(q), q))
        shown = {"responses": texts, "comparisons": comparisons, "shown_labels": labels}
        return shown, {
            "responses": list(texts.items()),
            "comparisons": comparisons,
            "pairwise_questions": [(q, self.book.pairwise_text(q)) for q in asked],
        }

    def _reflect(self, history: tuple[tuple[str, str], ...]) -> Request:
        book, strategy = self.book, self.settings.panas_strategy
        wants_change = strategy != "absolute"
        before = truth_of(self.conversation).pre_totals
        pre_totals = None
        if strategy != "blind_delta" and before.positive is not None and before.negative is not None:
            pre_totals = (before.positive, before.negative)
        values: dict[str, Any] = {
            "history": history,
            "verbose": self.settings.verbose,
            "background": "" if self.prompts.threaded else self.background,
            "emotions": EMOTIONS,
            "feelings": [(name, book.panas.get(name, "")) for name in EMOTIONS],
            "positive": POSITIVE,
            "pre_totals": pre_totals and tuple(f"{total:g}" for total in pre_totals),
            "wants_change": wants_change,
            "panas_field": schemas.PANAS_CHANGE if wants_change else schemas.PANAS_ITEMS,
            "branches": [(name, book.branches[name].observer) for name in BRANCHES],
        }
        for short, name in zip(("q1", "q2", "q3", "follow_up"), OPTION_FIELDS, strict=True):
            values[short] = {"text": book.questions[name].observer, "options": book.options[name]}
        return self._request(
            "reflect",
            None,
            self.prompts.render("reflect", values),
            history=history,
            options={name: book.options[name] for name in OPTION_FIELDS},
            pre_totals=pre_totals,
            wants_change=wants_change,
        )
