"""The `truth` of a training row: everything needed to score a reply, as one JSON text.

It has what was asked (ids, options, the sides of each comparison), the annotations used by the row's parts,
and the parts with their weights, but no prompt and no text of the conversation. Where a part of your own is
scored, which may look at anything, it has the conversation's whole record instead of the annotations. It
names no code: whoever scores the row gives the reward that has the part. It contains the answer: never show
it to the model being trained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, StrictInt, TypeAdapter

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.format.schema import Conversation
from attune_data.version import SCORING_VERSION
from attune_episodes.protocol.request import Request, ShownComparison
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.tree import LEAF
from attune_rewards.predictions import Stage
from attune_rewards.reward.parts import Format
from attune_rewards.reward.presets.canonical import CanonicalPart
from attune_rewards.reward.score import ScoredRequest
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.truth import ConversationTruth, Totals, TurnTruth, truth_of

PARTS: Final[Mapping[str, Part]] = {**LEAF, "format": Format()}
"""The parts that a row can name, which are known to every installation of this package."""
_TURN: Final = TypeAdapter(TurnTruth)
_CONVERSATION: Final = TypeAdapter(ConversationTruth)
_COMPARISONS: Final = {"comparisons": {"__all__": {"question_id", "response_a", "response_b", "winner"}}}
_UNANNOTATED: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("tags", "q1", "q2", "q3", "q3_follow_up")),
    **dict.fromkeys(("observed", "preferred", "comparisons", "winners", "turns"), ()),
    **{name: {} for name in ("responses", "pre", "post", "branches", "by_number")},
    **dict.fromkeys(("pre_totals", "post_totals"), Totals(None, None)),
}
"""The values of the fields of both kinds of truth if nothing is annotated."""


def check_rows_carry(spec: RewardSpec) -> None:
    """Raise SettingsError for a reward that rows cannot represent, such as a terminal one."""
    for name, part in spec.parts.items():
        if isinstance(part, CanonicalPart):
            raise SettingsError(
                f"reward {spec.name!r} is for evaluation only, since it rewards silence; train with skill"
            )
        if part != PARTS.get(name, part):
            raise SettingsError(
                f"part {name!r} of reward {spec.name!r} has the name of another part, which rows would be "
                "scored on; give it a name of its own"
            )
    if not spec.dense:
        raise SettingsError(
            f"reward {spec.name!r} is terminal, but each row is rewarded on its own; leave out .terminal()"
        )


def own_parts(spec: RewardSpec) -> tuple[Part, ...]:
    """The parts of a reward that only its author's code can score."""
    return tuple(part for part in spec.extra if part.name not in PARTS)


def write_truth(request: Request, scored: ScoredRequest, conversation: Conversation) -> str:
    """Write the truth of one request, with its keys in a fixed order."""
    asked: dict[str, Any] = {
        "questions": request.questions,
        "comparisons": [[c.number, c.index, c.swapped] for c in request.comparisons],
    }
    asked = {name: value for name, value in asked.items() if value}
    if request.stage == "reflect":
        asked |= {"options": request.options, "changes": request.wants_change}
    document = {
        "scoring": SCORING_VERSION,
        "conversation": request.conversation_id,
        "turn": request.turn,
        "stage": request.stage,
        "asked": asked,
        "parts": scored.parts,
        **({} if scored.floor is None else {"floor": scored.floor}),
    }
    if all(name in PARTS for name, _, _ in scored.parts):
        document["annotated"] = _annotated(request, scored)
    else:
        document["record"] = conversation.to_record()
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _annotated(request: Request, scored: ScoredRequest) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, _, _ in scored.parts:
        for place in LEAF[name].reads if name in LEAF else ():
            field, _, key = place.partition(".")
            fields[field] = {*fields.get(field, ()), key} if key else True
    if scored.stage == "prefer" or "comparisons" in fields:
        fields |= _COMPARISONS  # a reply cannot be parsed without them
    if request.wants_change:
        fields |= dict.fromkeys(("pre", "pre_totals", "post_totals"), True)
    if scored.turn is not None:
        plain = _TURN.dump_python(scored.turn, mode="json", include=fields, exclude_none=True, by_alias=True)
    else:
        plain = _CONVERSATION.dump_python(scored.truth, mode="json", include=fields, exclude_none=True)
    return dict(plain)


class _Asked(BaseModel):
    """Read the request in a document, from `asked` as written by `write_truth`."""

    questions: tuple[str, ...] = ()
    comparisons: tuple[tuple[int, int, bool], ...] = ()
    options: dict[str, tuple[str, ...]] = {}
    changes: bool = False


class _Document(BaseModel):
    """A parsed truth."""

    scoring: Literal[SCORING_VERSION]  # type: ignore[valid-type]  # a constant
    conversation: str
    turn: StrictInt | None
    stage: Stage
    asked: _Asked
    parts: tuple[tuple[str, float, float], ...]
    floor: float | None = None
    annotated: dict[str, Any] | None = None
    record: Conversation | None = None
    """Instead of `annotated` where a part of the author's own is scored."""

    def truths(self) -> tuple[ConversationTruth, TurnTruth | None]:
        """The truths of the conversation and of the turn; None for the latter in the reflect stage."""
        if self.record is not None:
            truth = truth_of(self.record)
            return truth, None if self.turn is None else truth.by_number[self.turn]
        if self.annotated is None:
            raise ValueError("neither annotations nor a record")
        known = {**_UNANNOTATED, **self.annotated}
        truth = _CONVERSATION.validate_python({**known, "conversation_id": self.conversation})
        if self.turn is None:
            return truth, None
        asked = self.asked.questions
        found = {"turn": self.turn, "has_judgements": bool(asked), "applicable": asked}
        found["winners"] = [
            (index, one["winner"]) for index, one in enumerate(known["comparisons"]) if one.get("winner")
        ]
        return truth, _TURN.validate_python(known | found)


def read_truth(text: str, own: tuple[Part, ...] = ()) -> tuple[Request, ScoredRequest]:
    """Read a request, without its messages and texts, and its scoring from a truth.

    `own` are the parts that the package does not have. Raises DataError for a text that `write_truth` of this
    scoring version did not write, SettingsError if a part of the author's own is missing.
    """
    try:
        raw = json.loads(text)
    except (TypeError, ValueError) as error:
        raise _refused(show(text), f"it is not JSON ({error})") from error
    version = raw.get("scoring") if isinstance(raw, dict) else None
    if version != SCORING_VERSION:
        raise _refused(f"scoring version {show(version)}", f"this is {SCORING_VERSION}")
    try:
        request, scored = _read(_Document.model_validate(raw), own)
        scored.score(None)  # fails if the weights allow no mean
    except SettingsError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError) as error:
        found = show(json.dumps(raw, ensure_ascii=False))
        raise _refused(found, f"it cannot be read: {type(error).__name__} {error}") from error
    return request, scored


def _read(document: _Document, own: tuple[Part, ...]) -> tuple[Request, ScoredRequest]:
    asked, stage, turn = document.asked, document.stage, document.turn
    if (turn is None) != (stage == "reflect"):
        raise ValueError(f"no stage {stage!r} in turn {turn}")
    known = {**PARTS, **{part.name: part for part in own}}
    for name, _, _ in document.parts:
        if document.record is not None and name not in known:
            raise SettingsError(
                f"a row of conversation {document.conversation!r} rewards part {name!r}, a function of your "
                'own: give the reward that has it, such as spec="my_reward.py" (docs/custom-reward.md)'
            )
    truth, here = document.truths()
    parts = tuple((known[name], weight, baseline) for name, weight, baseline in document.parts)
    for part, _, _ in parts:
        if not part.defined(truth, stage, here):
            raise ValueError(f"nothing that part {part.name} reads is annotated")
    request = Request(
        conversation_id=document.conversation,
        turn=turn,
        stage=stage,
        messages=(),
        questions=asked.questions,
        comparisons=tuple(
            ShownComparison(number, index, here.comparisons[index].question_id if here else "", "", "", swap)
            for number, index, swap in asked.comparisons
        ),
        options=asked.options,
        wants_change=asked.changes,
    )
    return request, ScoredRequest(stage, parts, truth, here, document.floor)


def _refused(found: str, why: str) -> DataError:
    return DataError(
        Problem("row", "truth", found, "the truth that training_dataset wrote", f"{why}; make the rows again")
    )
