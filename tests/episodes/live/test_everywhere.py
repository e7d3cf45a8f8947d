"""The same replies earn the same by every road that is installed; the extras' tests run the others."""

from __future__ import annotations

import pytest

from tests.episodes.live.roads import ROADS, check_road, engine


@pytest.mark.parametrize("road", ROADS)
def test_every_road_pays_what_the_live_episode_pays(road: str) -> None:
    check_road(road)


def test_the_replies_tell_conversations_apart() -> None:
    totals = [sum(rewards) for rewards in engine()]
    assert len(set(totals)) == len(totals)
    assert len({len(rewards) for rewards in engine()}) > 1
