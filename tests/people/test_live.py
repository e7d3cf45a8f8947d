"""Live episodes: what pays, what does not, and that they go on after anything."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import gymnasium
import pytest

import attune_env  # noqa: F401  (registers the environments)
from attune_data import for_training, load
from attune_data.errors import DataError, SettingsError
from attune_data.format.validate import conversation_from
from attune_env.people.answering import play_plan
from attune_env.running.settings import Options
from attune_episodes.people.asks import Ask, answered
from attune_episodes.people.cards import plan, plan_text
from attune_episodes.people.closing import closing
from attune_episodes.people.endpoint import Endpoint
from attune_episodes.people.live import LiveEpisode, LiveError
from attune_episodes.people.pinned import SHIPPED, Pinned
from attune_episodes.people.play import play
from attune_episodes.people.record import only
from attune_episodes.people.state import wishes
from attune_episodes.training import training_dataset
from attune_episodes.training.rewards import RowReward
from attune_rewards.reading import Exchange
from attune_rewards.reading.recorded import reading_key
from attune_rewards.reward.alignment import draft_alignment
from attune_rewards.truth import truth_of
from tests.endpoint import serve
from tests.people.scripted import CAST, Script
from tests.people.test_playing import hands
from tests.running.playing import QUICK

CARDS = plan(6, 11)
DOES: dict[str, set[str]] = {
    "sympathy": {"answers", "B6", "B19", "B207"},
    "parrot": {"answers", "B3"},
    "flood": {"B13", "B206", "B501", "B502", "B505"},
    "soup": set(),
}
"""What a reply of each kind does, according to most readings in `replies.json`."""
SAYS: dict[str, Callable[[LiveEpisode], str]] = {
    "good": lambda _: "The letter is odd, since they had agreed to wait. What did the lodger say?",
    "sympathy": lambda _: "I am so sorry, that sounds really hard. Your feelings are valid.",
    "parrot": lambda episode: episode.message,
    "flood": lambda _: "Who? What? When? Where? Why? How? And then? " * 5,
    "soup": lambda _: "Chop two onions and let them sweat in butter until they are glassy.",
    "silence": lambda _: " ",
}


@dataclass
class Hands:
    """Scripted hands whose reader knows what a policy did."""

    policy: str
    episode: LiveEpisode | None = None
    script: Script = field(default_factory=Script)

    def __call__(self, ask: Ask) -> str:
        if self.episode is None or not ask.request.id.endswith("/reading"):
            return self.script.ask(ask)
        said = self.episode._said
        assert said is not None
        wanted = wishes(self.episode.card, self.episode.state, said.tags)
        met = {question for question, want in wanted.items() if want == "yes"} | {"answers"}
        does = DOES.get(self.policy, met - {"B15"})
        names = (*self.episode.card.asked, "answers", "gives_in")
        said_of = ", ".join(f'"{name}": "{"yes" if name in does else "no"}"' for name in names)
        return f'{{"answers": {{{said_of}}}}}'


def ended(policy: str, number: int) -> LiveEpisode:
    hand = Hands(policy)
    hand.episode = episode = LiveEpisode(CARDS[number], CAST, person=hand)
    while not episode.done:
        episode.say(SAYS[policy](episode))
    return episode


def test_good_replies_pay_more_than_sympathy_parroting_and_what_answers_nothing() -> None:
    total = {name: fmean(ended(name, i).total for i in range(len(CARDS))) for name in SAYS}
    assert total["good"] > 0.7 > 0 > total["parrot"]
    assert total["parrot"] > max(total[name] for name in ("sympathy", "flood", "soup", "silence"))


def test_who_is_missed_leaves_and_judges_so() -> None:
    silent, good = ended("silence", 0), ended("good", 0)
    assert silent.left
    assert all(turn.reward <= 0 for turn in silent.turns)
    assert (silent.closing.fit, good.closing.fit) == ("off", "very")
    assert not good.left
    assert good.total == pytest.approx(fmean(turn.reward for turn in good.turns))
    with pytest.raises(LiveError, match="is over"):
        good.say("One more thing.")


def test_pickled_or_failed_at_any_turn_it_goes_on_and_asks_nothing_twice() -> None:
    script = Script()
    whole = LiveEpisode(CARDS[1], CAST, person=script.ask)
    while not whole.done:
        whole.say(SAYS["good"](whole))
    calls = len(script.asked)

    failing = Flaky()
    episode = LiveEpisode(CARDS[1], CAST, person=failing)
    while not episode.done:
        try:
            episode.say(SAYS["good"](episode))
        except ConnectionError:
            episode = pickle.loads(pickle.dumps(episode))
    assert episode.turns == whole.turns
    assert (episode.total, episode.record()) == (whole.total, whole.record())
    assert len(episode.person.script.asked) == calls  # type: ignore[attr-defined]
    again = LiveEpisode(CARDS[1], CAST, person=nobody, answers=episode.answers)
    while not again.done:
        again.say(SAYS["good"](again))
    assert again.turns == whole.turns


def nobody(ask: Ask) -> str:
    raise AssertionError(f"asked {ask.id}")


def usual(kind: str, prompt: str, text: str) -> str:
    return text


class Flaky:
    """Fails before every third answer."""

    def __init__(self) -> None:
        self.script, self.calls = Script(usual), 1

    def __call__(self, ask: Ask) -> str:
        self.calls += 1
        if self.calls % 4 == 0:
            raise ConnectionError
        return self.script.ask(ask)


def test_the_record_is_a_conversation_to_train_on() -> None:
    record = ended("good", 2).record()
    conversation = conversation_from(record, "live")
    assert record["played"]["hands"]["assistant-1"] == CAST.assistants[0].model
    assert set(record["played"]["labels"]["observedBehavior"].values()) == {"read"}
    assert conversation.turns[0].responses["human"] is None
    for_training([conversation])
    only([conversation], {"decided"})


def test_people_that_come_with_the_package_talk_offline_to_the_end() -> None:
    people = Pinned(SHIPPED)
    assert len(people.cards) == 3
    assert people.cast.one_family  # as the card says
    for played in people.play():
        episode = LiveEpisode(played.card, person=people)
        while not episode.done:
            episode.say(people.replies[episode.message])
        assert [turn.read for turn in episode.turns] == [turn.read for turn in played.turns]
        assert episode.state == played.state
        assert episode.closing.fit == closing(played.card, played.state).fit


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pinned")
    with serve(Script()) as server:
        cast, models = hands(server)
        play_plan(CARDS[:2], cast, folder, models=models, options=Options(patience=QUICK, concurrency=4))
    return folder


def test_pinned_people_answer_the_replies_that_they_know(pinned: Path) -> None:
    people = Pinned(pinned)
    card = people.cards[0]
    played = answered(play(card, people.cast), people)
    episode = LiveEpisode(card, person=people)
    for turn in played.turns:
        here = episode.say(turn.replies[0])
        assert (here.message, dict(here.read)) == (turn.message, dict(turn.read))
    assert episode.done
    assert episode.state == played.state
    with pytest.raises(DataError, match="these people know no other replies"):
        LiveEpisode(card, person=people).say("What does the lodger say about the letter?")


def test_a_terminal_talks_with_pinned_people(pinned: Path, tmp_path: Path) -> None:
    people = Pinned(pinned)
    played = answered(play(people.cards[0], people.cast), people)
    said = "".join(turn.replies[0] + "\n" for turn in played.turns)
    file = tmp_path / "one.json"
    command = [sys.executable, "-m", "attune_env", "people", "talk", str(pinned), "-o", str(file)]
    done = subprocess.run(
        command, input=said, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert played.turns[-1].message in done.stdout
    assert "the person's own judgement" in done.stdout
    assert file.exists()


def test_gymnasium_plays_it_over_http(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(plan_text(CARDS[:2]))
    with pytest.raises(SettingsError, match="nobody plays"):
        gymnasium.make("Attune/Live-v0", people=str(path))
    with serve(Script(), ["503,first=1,every=9"]) as server:
        env = gymnasium.make("Attune/Live-v0", people=str(path), person=f"a@{server.url}")
        message, info = env.reset(seed=3)
        ended, total = False, 0.0
        while not ended:
            assert info["chat"][-1] == {"role": "user", "content": message}
            message, reward, ended, cut, info = env.step("That is odd. What did they say?")
            total += float(reward)
    assert not cut
    assert info["total"] == pytest.approx(total / len(info["record"]["turns"]))
    assert info["closing"].fit
    assert Endpoint(server.url, "a").hand.model == "a"


def test_the_part_pays_recorded_turns_by_any_reader(pinned: Path) -> None:
    conversations = load(pinned)
    turns = [turn for one in conversations for turn in truth_of(one).turns]
    texts = [turn.responses["original"] or "" for turn in turns]
    met = {
        reading_key(Exchange(turn.message, text, turn.history)): dict(turn.preferred)
        for turn, text in zip(turns, texts, strict=True)
    }
    spec = draft_alignment(conversations, met)
    assert 0.5 < spec.baselines["draft_alignment"] < 1
    rows = training_dataset(conversations, stages=["draft"], reward=spec)
    paid = RowReward(spec)(completions=list(texts), truth=list(rows["truth"]))
    assert paid == pytest.approx([1.0] * len(texts))
