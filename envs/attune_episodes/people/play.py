"""Play a conversation: one generator that yields what it needs answered.

    steps = play(card, cast)
    asks = next(steps)                                           # a list of Ask
    asks = steps.send({ask.key: answer(ask) for ask in asks})    # until it returns a Played

There are no rounds and there is no other state: an endpoint, a batch, inference elsewhere, a replay and
pinned people differ only in who answers. The key of an ask is the hash of all that determines its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from attune_data.format.affect import POLARITY, similarity
from attune_data.format.constants import Answer
from attune_episodes.people import hands, judging
from attune_episodes.people.asks import (
    ASSISTANTS,
    PERSON,
    READER,
    Cast,
    GivenUpError,
    Steps,
    asked,
    together,
)
from attune_episodes.people.cards import Card
from attune_episodes.people.closing import Closing
from attune_episodes.people.draws import Draws
from attune_episodes.people.hands import History
from attune_episodes.people.judging import Judged
from attune_episodes.people.state import (
    NEEDS,
    Read,
    State,
    Wishes,
    feelings,
    first_state,
    leaves,
    moved,
    shows,
    wishes,
)
from attune_rewards.metrics.text import jaccard, tokens
from attune_rewards.predictions import Tag

T = TypeVar("T")

TRIALS: Final = 3
"""How often a message is asked for until what should show is found in it."""
FOUND: Final = 0.85
"""Similarity from which a feeling that was found is the one that should show."""
SAME_MATTER: Final = 0.35
"""Share of words from which two matters are the same."""


@dataclass(frozen=True)
class PlayedTurn:
    """One turn as it was played."""

    tags: tuple[Tag, ...]
    origin: str
    """`decided`, or `read` where the tags follow the text."""
    message: str
    replies: tuple[str, str]
    """The reply that the person received, and the other one."""
    received: str
    """The hand of the received reply."""
    wanted: Wishes
    read: Read
    read_again: Read | None = None
    """A second reading of the same reply."""
    judged: Judged | None = None

    @property
    def observed(self) -> dict[str, Answer]:
        """Question -> what the reply did: as read or, where a text does not settle it, as judged."""
        did: dict[str, Answer] = {**self.read, **(self.judged.answers if self.judged else {})}
        return did | {question: "na" for question, want in self.wanted.items() if want == "na"}

    @property
    def preferred(self) -> dict[str, Answer]:
        """Question -> what the person would have wanted: as judged or, unless anybody judged, as decided."""
        if self.judged is None:
            return dict(self.wanted)
        want, named = self.observed, self.judged.otherwise
        want |= {question: "no" if want[question] == "yes" else "yes" for question in named}
        for narrow, wide in NEEDS.items():
            if want.get(narrow) == "yes" and want.get(wide) == "no":
                want |= {wide: "yes"} if narrow in named else {narrow: "no"}
        return want


@dataclass(frozen=True)
class Played:
    """A conversation that was played to its end."""

    card: Card
    cast: Cast
    turns: tuple[PlayedTurn, ...]
    state: State
    """The person's state after the last reply."""
    closing: Closing | None = None
    """The person's judgement of the whole conversation; None where nobody judges."""


def concrete(card: Card, cast: Cast, earlier: Sequence[str] = (), before: int = 0) -> Steps[Card]:
    """The card with its matter, which is asked for unless it is there."""
    if card.matter:
        return card
    near = tuple(earlier)
    text = yield from asked(cast, PERSON, lambda why: hands.matter(card, near, why), before=before)
    return replace(card, matter=text)


def matters(cards: Sequence[Card], cast: Cast) -> Steps[tuple[list[Card], dict[str, str]]]:
    """The cards with their matters, no two alike, and the id of each card that got none with the reason.

    Whichever of two similar matters is earlier in the plan stays; the other is asked for again.
    """
    found: dict[str, Card] = {card.id: card for card in cards if card.matter}
    failed: dict[str, str] = {}
    near: dict[str, list[str]] = {card.id: [] for card in cards if not card.matter}
    for trial in range(TRIALS):
        left = [card for card in cards if card.id in near]
        if not left:
            break
        before = trial * cast.attempts
        tried = yield from together(*(_tried(concrete(card, cast, near[card.id], before)) for card in left))
        for card, made in zip(left, tried, strict=True):
            if isinstance(made, GivenUpError):
                failed[card.id] = str(made)
                del near[card.id]
            elif same := _same(made, found.values()):
                near[card.id].append(same)
            else:
                found[card.id] = made
                del near[card.id]
    failed |= dict.fromkeys(near, "every matter was like an earlier one")
    return [found[card.id] for card in cards if card.id in found], failed


def _tried(steps: Steps[T]) -> Steps[T | GivenUpError]:
    try:
        return (yield from steps)
    except GivenUpError as error:
        return error


def _same(card: Card, earlier: Iterable[Card]) -> str:
    """The matter of an earlier card that is like this one's; "" if there is none."""
    own = tokens(card.matter)
    return next((one.matter for one in earlier if jaccard(own, tokens(one.matter)) >= SAME_MATTER), "")


@dataclass(frozen=True)
class Said:
    """A message of the person, with what is felt and wanted."""

    text: str
    tags: tuple[Tag, ...]
    origin: str
    wanted: Wishes


def spoken(card: Card, cast: Cast, state: State, history: History) -> Steps[Said]:
    """The person's next message; feelings are decided before, and now and then looked for afterwards.

    Where what should show is not found, the message is asked for again; after the third, the tags follow the
    text.
    """
    tags, shown = feelings(card, state), shows(card, state.turn)
    wanted = wishes(card, state, tags)
    checked = bool(tags) and shown and Draws("checked", card.id, card.seed, state.turn).yes(cast.checked)
    why, text, found = "", "", tags
    for trial in range(TRIALS):
        text = yield from asked(
            cast, PERSON,
            lambda again: hands.message(card, state, tags, shown, wanted, cast.settings, history, again),
            why, trial * cast.attempts,
        )  # fmt: skip
        if not checked:
            return Said(text, tags, "decided", wanted)
        read = hands.feelings(card, state.turn, history, text)
        found = yield from asked(cast, READER, lambda _, read=read: read, before=trial * cast.attempts)  # type: ignore[misc]
        if legible(tags, found):
            return Said(text, tags, "decided", wanted)
        why = f"a reader did not find {tags[0].emotion.lower()} in it; let it show more plainly"
    return Said(text, found, "read", wanted)


def legible(tags: Sequence[Tag], found: Sequence[Tag]) -> bool:
    """Whether the strongest of these feelings, or one close to it, is among those found."""
    first = tags[0].emotion
    return any(
        POLARITY[tag.emotion] == POLARITY[first] and similarity(tag.emotion, first) >= FOUND for tag in found
    )


def reading(
    card: Card, cast: Cast, turn: int, history: History, message: str, reply: str, *, second: bool = False
) -> Steps[Read]:
    """What the reader says that a reply did, for all questions asked of the person and two more."""
    request = hands.reading(
        card.id, card.asked, turn, history, message, reply, cast.settings, second=second
    )  # fmt: skip
    read: Read = yield from asked(cast, READER, lambda _: request)
    return read


def play(card: Card, cast: Cast) -> Steps[Played]:
    """Play a conversation to its end; raises GivenUpError if a hand gives no usable answer.

    The person judges each reply with the message before them that they wrote next, so all are judged at the
    end, and then the whole.
    """
    card = yield from concrete(card, cast)
    state = first_state(card)
    history: list[tuple[str, str]] = []
    turns: list[PlayedTurn] = []
    while not leaves(card, state):
        turn, past = state.turn, tuple(history)
        said = yield from spoken(card, cast, state, past)
        replies = [_reply(card, cast, turn, slot, past, said.text) for slot in (1, 2)]
        first, second = yield from together(*replies)
        drawn = Draws("received", card.id, card.seed, turn).below(2)
        received, other = (first, second) if drawn == 0 else (second, first)
        again = Draws("twice", card.id, card.seed, turn).yes(cast.twice)
        readings = [
            reading(card, cast, turn, past, said.text, received, second=second)
            for second in (False, True)[: 1 + again]
        ]
        read, *more = yield from together(*readings)
        turns.append(
            PlayedTurn(
                said.tags, said.origin, said.text, (received, other), ASSISTANTS[drawn], said.wanted, read,
                more[0] if more else None,
            )
        )  # fmt: skip
        state = moved(card, state, said.tags, said.wanted, read)
        history.append((said.text, received))
    after = [*(turn.message for turn in turns[1:]), ""]
    judged = yield from together(
        *(
            _judging(card, cast, tuple(history[: i + 1]), turn, following)
            for i, (turn, following) in enumerate(zip(turns, after, strict=True))
        )
    )
    turns = [replace(turn, judged=said) for turn, said in zip(turns, judged, strict=True)]
    felt = [(turn.tags, said) for turn, said in zip(turns, judged, strict=True)]
    end = yield from asked(
        cast, PERSON, lambda why: judging.closing(card, tuple(history), felt, cast.settings, why)
    )
    return Played(card, cast, tuple(turns), state, end)


def _reply(card: Card, cast: Cast, turn: int, slot: int, history: History, said: str) -> Steps[str]:
    text: str = yield from asked(
        cast, ASSISTANTS[slot - 1], lambda _: hands.reply(card, turn, slot, history, said)
    )
    return text


def _judging(card: Card, cast: Cast, history: History, here: PlayedTurn, following: str) -> Steps[Judged]:
    """The person's judgement of the last reply in `history`, made after their next message."""
    turn, past = len(history), history[:-1]
    applies = [question for question in card.asked if here.wanted.get(question) != "na"]
    judged: Judged = yield from asked(
        cast, PERSON,
        lambda why: judging.judgement(
            card, turn, past, here.message, here.replies, here.tags, applies, here.read, following,
            cast.settings, why,
        ),
    )  # fmt: skip
    return judged
