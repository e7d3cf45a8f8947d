"""`Asking`: when a reply counts, when it is asked again, and what is kept of those before."""

from __future__ import annotations

import pytest

from attune_episodes import Request, parse
from attune_episodes.play.asking import FIRST_PAUSE, LONGEST_PAUSE, Asking, pause
from attune_rewards.predictions import Prediction, Stage
from tests.play.builders import request_of

READABLE = '{"emotions": []}'
FILTERED = (READABLE, "content_filter")
Said = tuple[str | None, str]


def played(stage: Stage, replies: list[Said], most: int = 3) -> Asking[Request, Prediction]:
    """An asking that got these replies, as far as it wanted them."""
    asking: Asking[Request, Prediction] = Asking(request_of(stage), parse, most)
    numbers = []
    for ask in asking:
        numbers.append(ask)
        asking.take(*replies[ask - 1])
    assert numbers == list(range(1, asking.asks + 1))
    return asking


@pytest.mark.parametrize(
    ("stage", "replies", "asks", "status", "unread"),
    [
        ("assess", [(READABLE, "stop")], 1, "ok", []),
        # an object that can be read is whole, however the server says it ended
        ("assess", [(READABLE, "length")], 1, "ok", []),
        ("assess", [("?", "stop"), (READABLE, "stop")], 2, "ok", [("?", "unparsed:no_json")]),
        ("assess", [("?", "stop")] * 3, 3, "unparsed:no_json", [("?", "unparsed:no_json")] * 2),
        ("draft", [(None, "stop"), ("Oh.", "stop")], 2, "ok", [("", "unparsed:empty")]),
        # a text may end in its middle; whatever the harness calls that
        ("draft", [("I am so", "length"), ("Oh.", "stop")], 2, "ok", [("I am so", "length")]),
        ("draft", [("I am so", "max_tokens")] * 3, 3, "ok", [("I am so", "max_tokens")] * 2),
        ("draft", [("I cannot", "refusal"), ("Oh.", "stop")], 2, "ok", [("I cannot", "refusal")]),
        ("assess", [FILTERED, (READABLE, "stop")], 2, "ok", [FILTERED]),
        ("assess", [("\ud800", "stop"), (READABLE, "stop")], 2, "ok", [("\ufffd", "unparsed:no_json")]),
    ],
)  # fmt: skip
def test_asks_until_a_reply_counts(
    stage: Stage, replies: list[Said], asks: int, status: str, unread: list[Said]
) -> None:
    asking = played(stage, replies)
    assert (asking.asks, asking.status, asking.unread) == (asks, status, unread)
    assert asking.outcome == parse(request_of(stage), asking.text)


def test_asks_once_where_told() -> None:
    assert played("assess", [("?", "stop")], most=1).asks == 1


def test_each_ask_has_a_seed_of_its_own() -> None:
    asking = Asking(request_of("assess"), parse)
    first = asking.seed(7)
    asking.take("?")
    assert first == Asking(request_of("assess"), parse).seed(7)
    assert len({first, asking.seed(7), asking.seed(8), asking.seed(7, "sample", 2)}) == 4


def test_pauses_double_up_to_the_longest() -> None:
    for attempt, full in ((1, FIRST_PAUSE), (2, 2 * FIRST_PAUSE), (60, LONGEST_PAUSE)):
        assert full / 2 <= pause(attempt) <= full
