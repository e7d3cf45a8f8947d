"""The events of a study: the fold, what is kept once, and what withdrawal leaves."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import DataError
from attune_env.study.events import Event, Store, fold

STEPS = st.sampled_from(["consent", "topic", "say.1", "reply.1", "debrief", "stopped", "withdrawn"])
PAYLOADS = st.fixed_dictionaries({"n": st.integers()})
EVENTS = st.lists(st.builds(Event, st.sampled_from(["p1", "p2"]), STEPS, PAYLOADS, st.floats(0, 9)))


@given(EVENTS, EVENTS)
def test_what_is_answered_stays_as_it_is_whatever_comes_later(first: list[Event], later: list[Event]) -> None:
    before, after = fold("p1", first), fold("p1", first + later)
    assert before.answers.items() <= after.answers.items()
    assert fold("p1", [*first, *first]) == before
    assert fold("p1", [event for event in first if event.participant == "p1"]) == before
    assert before.over <= after.over


def test_a_step_is_answered_once_whichever_process_is_first(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as one, Store(tmp_path / "s") as other:
        participant = one.invite(time.time() + 9)
        assert one.add(participant, "topic", {"n": 1})
        assert not other.add(participant, "topic", {"n": 2})
        assert other.state(participant).answer("topic") == {"n": 1}
        assert not other.add("p00000000", "topic", {})
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600


def test_a_link_holds_only_for_the_database_that_made_it(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store, Store(tmp_path / "t") as another:
        first, second = (store.invite(9) for _ in range(2))
        link = store.link(first)
        state = store.holder(link)
        assert state is not None
        assert state.participant == first
        forged = [f"{second}{link[9:]}", another.link(first), link[:-1], f"{link}0", first, "", link.upper()]
        assert [store.holder(one) for one in forged] == [None] * len(forged)


def test_withdrawal_leaves_nothing_of_a_text_in_the_files(tmp_path: Path) -> None:
    secret = "a sentence that nobody else says " * 50
    with Store(tmp_path / "s") as store:
        gone, stays = (store.invite(time.time() + 9) for _ in range(2))
        for participant, said in ((gone, secret), (stays, "something else")):
            store.add(participant, "say.1", {"message": said})
        store.add(gone, "reply.1", {"text": secret, "cost": 0.5})
        store.withdraw(gone)
        found = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert secret[:33].encode() not in found
        assert b"something else" in found
        assert not store.add(gone, "say.2", {"message": "too late"})
        assert store.state(gone).answers == {"withdrawn": {"cost": 0.5}}
        assert store.spent()[0] == 0.5


def test_another_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("these are notes, and no database at all\n" * 50)
    with pytest.raises(DataError, match="the database of a study"):
        Store(tmp_path / "s")
