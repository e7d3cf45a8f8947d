"""What is cached with a conversation: no part of it, and only for the conversations used last."""

from __future__ import annotations

import copy
import pickle

from attune_data.format.memo import RECORDS_KEPT
from tests.data.builders import conversation


def test_the_memo_is_no_part_of_the_record() -> None:
    first = conversation()
    assert first.memoised("plans", 1, lambda: "made") == first.memoised("plans", 1, lambda: "again") == "made"
    for other in (conversation(), copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert first == other
        assert other.memo == {}


def test_of_many_conversations_those_that_got_a_memo_last_have_one() -> None:
    every = [conversation(conversationId=f"c-{n}") for n in range(RECORDS_KEPT + 2)]
    for one in every:
        one.memoised("truth", None, lambda: "made")
    assert [n for n, one in enumerate(every) if "memo" not in one.__dict__] == [0, 1]
    assert every[0].memoised("truth", None, lambda: "again") == "again"
    assert [n for n, one in enumerate(every) if "memo" not in one.__dict__] == [1, 2]
