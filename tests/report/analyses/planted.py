"""Runs with planted effects: models that answer from the annotations, with errors of known size.

Each `Reader` starts from the right answer and errs with stated chances, seeded by (reader's seed, request),
so what an analysis should find is known beforehand. `python -m tests.report.analyses.planted OUT` writes
OUT/conversations, OUT/results and OUT/scores.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from attune_data import Conversation, Conversations
from attune_data.files.write import write_folder
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS, Side
from attune_data.seeding import digest
from attune_data.selection.facts import stated
from attune_env.results import score_results, write_json
from attune_env.results.files import Result, result_name
from attune_env.testing import filler
from attune_episodes import Request, Settings, builtin_policy, parse
from attune_episodes.parsing import render
from attune_episodes.play.policy import Policy, prepared
from attune_episodes.play.rollout import rollout
from attune_episodes.protocol.settings import Mode
from attune_rewards.predictions import Assess, AssessHP, Draft, Prefer, Reflect, Tag, YesNo
from attune_rewards.record.read import read_record

T = TypeVar("T")
WHEN = "2026-03-31T00:00:00+00:00"
RUN = "grpo-7"


@dataclass(frozen=True)
class Reader:
    """How often a planted model errs. Chances in [0, 1]; all but the first field have a neutral default."""

    name: str
    """`planted/NAME` in the files."""
    seed: int = 0
    emotion: float = 0.3
    """Each tag becomes another item; a neutral turn gets one."""
    diagnosed: float = 0.0
    """Added to `emotion` for participants who state a diagnosis."""
    om: float = 0.12
    """Wrong on what the OM did."""
    hp: float = 0.16
    """Wrong on what the HP would have wanted."""
    drift: float = 0.0
    """Added to `om` and `hp`: 0 at the first turn, all of it at the last, in equal steps."""
    pairwise: float = 0.3
    """The wrong side."""
    side_a: float = 0.0
    """Share of comparisons answered with the prompt's side A, whatever they are."""
    longer: float = 0.0
    """Share answered with the longer response, whatever it is."""
    end: float = 0.35
    """Each answer of the reflect stage."""
    garbage: float = 0.0
    """Replies that cannot be parsed."""
    verbose: float = 0.0
    """Added to `emotion`, `om`, `hp` and `pairwise` in the verbose modes."""
    price: float = 0.01
    """Dollars a call."""
    step: int | None = None
    """Training step, for checkpoints of the one run `RUN`."""

    @property
    def em_model(self) -> str:
        """`provider/model`."""
        return f"planted/{self.name}"

    def asked_in(self, mode: str) -> Reader:
        """The reader with the chances that hold in a mode."""
        if "verbose" not in mode:
            return self
        more = self.verbose
        return replace(
            self, emotion=self.emotion + more, om=self.om + more, hp=self.hp + more,
            pairwise=self.pairwise + more,
        )  # fmt: skip


GOOD = Reader("good", 1)
READERS: tuple[Reader, ...] = (
    replace(GOOD, verbose=0.06, price=0.03),
    replace(GOOD, name="good-twin", seed=101, price=0.02),
    Reader("worse", 3, emotion=0.45, om=0.2, hp=0.24, pairwise=0.4, end=0.5, verbose=-0.1, garbage=0.01),
    replace(GOOD, name="misreads-diagnosed", seed=4, diagnosed=0.45),
    replace(GOOD, name="drifts", seed=5, om=0.05, hp=0.08, drift=0.25),
    replace(GOOD, name="sees-not-wants", seed=6, om=0.08, hp=0.3),
    replace(GOOD, name="no-gap", seed=104, om=0.18, hp=0.18, longer=0.5),
    replace(GOOD, name="position-biased", seed=8, side_a=0.5),
    Reader("tuned-0", 9, 0.6, om=0.3, hp=0.35, pairwise=0.48, end=0.6, garbage=0.1, price=0.0, step=0),
    Reader("tuned-200", 10, 0.45, om=0.2, hp=0.24, pairwise=0.4, end=0.45, garbage=0.02, price=0.0, step=200),
    Reader("tuned-400", 11, 0.3, om=0.13, hp=0.17, pairwise=0.33, end=0.38, price=0.0, step=400),
)
"""Eight models with one effect each (`no-gap` also likes the longer response), three checkpoints of a run."""
NAMES = tuple(one.name for one in READERS)
VERBOSE_TOO = ("good", "worse")
"""Readers that `write` also runs in mode verbose: there `worse` gains and `good` loses."""


def reader(name: str) -> Reader:
    """The reader of READERS with this name."""
    return next(one for one in READERS if one.name == name)


@lru_cache(maxsize=4)
def people(number: int, seed: int = 0) -> Conversations:
    """Filler conversations, the same for all tests of a process."""
    return filler(number, seed)


def difficulty(conversation_id: str) -> float:
    """What every reader's chances are multiplied by in a conversation: 0.5 to 1.5, mean 1."""
    return 0.5 + Random(digest("difficulty", conversation_id)).random()


@dataclass(frozen=True, slots=True)
class Player:
    """A reader as the policy that plays one conversation."""

    who: Reader
    conversation: Conversation
    truth: Policy
    """The oracle of this conversation."""

    @property
    def name(self) -> str:
        """The reader's."""
        return self.who.name

    def reply(self, request: Request) -> str:
        """The right answer, with the reader's errors in it."""
        dice = Random(digest(self.who.seed, request.id))
        if dice.random() < self.who.garbage:
            return "I would rather talk about the weather."
        right = self.truth.reply(request)
        assert isinstance(right, str)
        said = parse(request, right)
        hard = difficulty(request.conversation_id)
        if isinstance(said, Draft):
            return render(request, Draft(self._draft(request, dice) or said.text))
        if isinstance(said, Prefer):
            return render(request, Prefer(self._picks(request, said.picks, dice, hard)))
        if isinstance(said, Reflect):
            return render(request, self._end(said, dice, self.who.end * hard))
        assert isinstance(said, Assess | AssessHP)
        late = self.who.drift * self._progress(request)
        observed = _flipped(said.observed, dice, (self.who.om + late) * hard)
        preferred = _flipped(said.preferred, dice, (self.who.hp + late) * hard)
        if isinstance(said, AssessHP):
            return render(request, AssessHP(observed, preferred))
        return render(request, Assess(self._tags(said.tags or (), dice, hard), observed, preferred))

    def _progress(self, request: Request) -> float:
        """0 at the first turn, 1 at the last."""
        numbers = [turn.turn_number for turn in self.conversation.turns]
        return numbers.index(request.turn or 0) / max(len(numbers) - 1, 1)

    def _tags(self, tags: Sequence[Tag], dice: Random, hard: float) -> tuple[Tag, ...]:
        chance = self.who.emotion * hard + (self.who.diagnosed if is_diagnosed(self.conversation) else 0)
        if not tags:
            return (Tag(dice.choice(EMOTIONS), 4),) if dice.random() < chance else ()
        found: dict[str, Tag] = {}
        for tag in tags:
            name = dice.choice(EMOTIONS) if dice.random() < chance else tag.emotion
            felt = min(max((tag.intensity or 4) + dice.choice((-1, 0, 0, 1)), 1), 7)
            found.setdefault(name, Tag(name, felt))
        return tuple(found.values())

    def _picks(
        self, request: Request, picks: Mapping[int, Side], dice: Random, hard: float
    ) -> dict[int, Side]:
        found: dict[int, Side] = {}
        for shown in request.comparisons:
            kind = dice.random()
            lengths = [len(request.responses[label]) for label in (shown.label_a, shown.label_b)]
            if kind < self.who.side_a:
                found[shown.index] = shown.to_conversation("A")
            elif kind < self.who.side_a + self.who.longer:
                found[shown.index] = shown.to_conversation("A" if lengths[0] >= lengths[1] else "B")
            else:
                wrong = dice.random() < self.who.pairwise * hard
                found[shown.index] = _other(picks[shown.index]) if wrong else picks[shown.index]
        return found

    def _draft(self, request: Request, dice: Random) -> str | None:
        turn = self.conversation.turn(request.turn or 0)
        return dice.choice((None, turn.llm_response if turn else None))

    def _end(self, said: Reflect, dice: Random, chance: float) -> Reflect:
        def moved(values: Mapping[str, int]) -> dict[str, int]:
            return {
                name: min(max(value + (dice.choice((-2, -1, 1, 2)) if dice.random() < chance else 0), 1), 7)
                for name, value in values.items()
            }

        def one(value: T, options: Sequence[T]) -> T:
            return dice.choice(options) if dice.random() < chance else value

        return replace(
            said,
            panas=moved(said.panas),
            q1=tuple(dict.fromkeys(one(option, Q1_OPTIONS) for option in said.q1 or ())),
            q2=one(said.q2, Q2_OPTIONS),
            q3=one(said.q3, Q3_OPTIONS),
            branches=moved(said.branches),
        )


def is_diagnosed(conversation: Conversation) -> bool:
    """Whether the participant states a diagnosis."""
    profile = conversation.participant_profile
    demographics = profile.demographics if profile else None
    return stated(demographics.diagnoses if demographics else None) == "any"


def _other(side: Side) -> Side:
    return "B" if side == "A" else "A"


def _flipped(answers: Mapping[str, YesNo], dice: Random, chance: float) -> dict[str, YesNo]:
    other: dict[YesNo, YesNo] = {"yes": "no", "no": "yes"}
    return {name: other[said] if dice.random() < chance else said for name, said in answers.items()}


def results_of(
    conversations: Conversations,
    readers: Sequence[Reader] = READERS,
    mode: Mode = "default",
    among: Sequence[Conversation] | None = None,
) -> Iterator[Result]:
    """Results in memory, as `read_results` would give them; with `among` of these conversations only."""
    settings = Settings(mode=mode)
    oracle = builtin_policy("oracle", conversations, settings)
    for who in readers:
        asked = who.asked_in(mode)
        for number, conversation in enumerate(conversations if among is None else among):
            player = Player(asked, conversation, prepared(oracle, conversation))
            calls = 4 * len(conversation.turns) + 1
            tokens_in, tokens_out = (
                900 * calls + 37 * (number % 11),
                (400 if "verbose" in mode else 120) * calls,
            )
            cost = round(who.price * calls, 6)
            facts: dict[str, Any] = {
                "run_timestamp": WHEN,
                "api_cost": cost,
                "duration_seconds": round(0.4 * calls, 3),
                "attune": {
                    "usage": {
                        "calls": calls, "attempts": calls + number % 3, "asked_again": number % 2,
                        "structured": calls, "tokens_in": tokens_in, "tokens_out": tokens_out,
                        "tokens_reasoning": 0, "tokens_cached": 0, "api_cost": cost, "judges": None,
                    },
                },
            }  # fmt: skip
            if who.step is not None:
                facts["attune"]["training"] = {"run": RUN, "step": who.step}
            record = rollout(conversation, player, settings, em_model=who.em_model, facts=facts).result
            prediction, _ = read_record(record, conversation, "planted")
            name = result_name(conversation.conversation_id, who.em_model, mode)
            yield Result(Path(name), record, prediction)


@lru_cache(maxsize=8)
def planted_scores(number: int = 60, names: tuple[str, ...] = NAMES, seed: int = 0) -> dict[str, Any]:
    """The content of a scores file of some readers, in memory; not to be changed."""
    conversations = people(number, seed)
    results = list(results_of(conversations, [reader(name) for name in names]))
    return score_results(results, conversations, ground_truth="planted")


def write(output: Path, number: int = 200, seed: int = 0) -> None:
    """Conversations, one folder of results (VERBOSE_TOO also in mode verbose on a quarter) and scores."""
    conversations = people(number, seed)
    write_folder(conversations, output / "conversations", overwrite=True)
    quarter = list(conversations)[: max(number // 4, 1)]
    again = [reader(name) for name in VERBOSE_TOO]
    results = [*results_of(conversations), *results_of(conversations, again, "verbose", quarter)]
    folder = output / "results"
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:  # not write_json: 2,300 of its syncs to disk take a minute
        text = json.dumps(result.record, ensure_ascii=False, indent=1)
        (folder / result.path).write_text(text + "\n", encoding="utf-8")
    scores = score_results(
        results, conversations, ground_truth=str(output / "conversations"), folder=str(folder)
    )
    write_json(output / "scores.json", scores)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.report.analyses.planted")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("--conversations", type=int, default=200, help="how many conversations")
    parser.add_argument("--seed", type=int, default=0, help="of the filler")
    asked = parser.parse_args()
    write(asked.output, asked.conversations, asked.seed)


if __name__ == "__main__":
    main()
