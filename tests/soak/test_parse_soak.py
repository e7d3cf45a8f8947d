"""Ten million hostile replies: each is read or refused, in bounded time and memory, and scored in range."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache, partial

import pytest

from attune_data import Conversation, load
from attune_episodes import Request, Settings, Unparsed, builtin_policy, parse, plan, score
from attune_episodes.parsing import sound
from attune_episodes.play.policy import prepared
from attune_episodes.protocol.settings import PANAS_STRATEGIES
from attune_rewards import Assess, AssessHP, Draft, Prediction, Prefer, Reflect
from tests.soak.inputs import both_ways, reply
from tests.soak.measure import SHARE, Failure, each, spread, watched

pytestmark = pytest.mark.soak

INPUTS = int(10_000_000 * SHARE)
SEED = 20261122
RATIO = 10
"""Peak of memory in sizes of the reply in UTF-8."""
MENDED = 16
"""Of replies with halves of characters, which are replaced in a copy."""
KINDS = {"draft": Draft, "assess": Assess, "assess_hp": AssessHP, "prefer": Prefer, "reflect": Reflect}


@cache
def pool() -> list[tuple[Conversation, Request, str]]:
    """Requests with a valid reply each."""
    sample = load("sample")
    oracle = builtin_policy("oracle", sample)
    found = []
    for number, conversation in enumerate(sample):
        player = prepared(oracle, conversation)
        for request in plan(conversation, Settings(panas_strategy=PANAS_STRATEGIES[number % 3])):
            text = player.reply(request)
            assert isinstance(text, str)
            found.append((conversation, request, text))
    return found


def check(index: int) -> str:
    """What becomes of one reply, a pure function of the seed and the index."""
    draw = random.Random(SEED * 10**9 + index)
    conversation, request, valid = draw.choice(pool())
    twice = draw.random() < 0.1 and bool(request.questions or request.comparisons)
    if twice:
        field, key = ("observed", request.questions[0]) if request.questions else ("picks", "1")
        text = both_ways(draw, field, key)
    else:
        text = reply(draw, valid, draw.choice(pool())[2])
    size = len(text) if len(text) < 10_000 else len(text.encode("utf-8", "surrogatepass"))
    ratio = RATIO if sound(text) is text else MENDED
    said = watched(partial(parse, request, text), size, ratio, sample=index % 500 == 0)
    if not isinstance(said, (Unparsed, KINDS[request.stage])):
        raise Failure(f"a {type(said).__name__} for {request.stage}")
    if twice and not isinstance(said, Unparsed) and _answered(request, said):
        raise Failure(f"answered both ways, read one way: {text[:300]!r}")
    value = score(conversation, request, said).value
    if value is not None and not 0.0 <= value <= 1.0:
        raise Failure(f"scored {value}")
    return said.code if isinstance(said, Unparsed) else "read"


def _answered(request: Request, said: Prediction) -> bool:
    """Whether the question or comparison that was answered both ways counts as answered."""
    if isinstance(said, (Assess, AssessHP)):
        return request.questions[0] in {*said.observed, *said.preferred}
    first = next((c.index for c in request.comparisons if c.number == 1), None)
    return isinstance(said, Prefer) and first in said.picks


def describe(index: int) -> str:
    return f"reply {index} of seed {SEED}: tests.soak.test_parse_soak.check({index})"


def work(start: int, stop: int) -> Counter[str]:
    return each(start, stop, check, describe)


def test_ten_million_hostile_replies_are_read_or_refused_in_bounds_and_scored_in_range() -> None:
    outcomes = spread(work, INPUTS, max(1, min(20_000, INPUTS // 4)))
    assert outcomes.total() == INPUTS
    assert 0 < outcomes["read"] < INPUTS
