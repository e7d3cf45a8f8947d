"""The draft reward without a judge: the same in rows and episodes, in score files beside the judge's."""

from __future__ import annotations

import pytest

from attune_data import load
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.training import score_row
from attune_episodes.training.rows import RowMaker
from attune_rewards import RewardSpec, read_record, score_conversation
from attune_rewards.metrics.binary import TruthPairs
from attune_rewards.metrics.draft import ALL_NO, READ, agreement, read, read_alignment
from attune_rewards.predictions import YesNo
from attune_rewards.reading import Exchange, reader
from attune_rewards.reading.fitted import FittedReader
from attune_rewards.truth import truth_of

PART = "draft_binary_alignment_read"
SPEC = RewardSpec.weighted("draft", {PART: 1})
ABOUT = load("written", split="dev")[0]
DRAFTS = Settings(stages=("draft",))
A, B = sorted(READ)[:2]


def test_alignment_counts_the_questions_that_are_read_well() -> None:
    truth: TruthPairs = ((A, "yes"), (B, "no"), ("B8", "yes"))
    assert read_alignment(truth, {A: "yes", B: "yes"}) == 1 / 2
    assert read_alignment(truth, {A: "yes"}) == 1 / 2  # a missing answer disagrees
    assert read_alignment(truth, None) is None
    assert read_alignment((("B8", "yes"),), {}) is None


def test_agreement_of_judge_and_reader() -> None:
    assert agreement({A: "yes", B: "no", "B8": "yes"}, {A: "yes", B: "yes"}) == 1 / 2
    assert agreement({"B8": "yes"}, {A: "yes"}) is None


@pytest.mark.parametrize("policy", ["lexicon", "copy", "oracle"])
def test_rows_and_episodes_and_score_files_agree(policy: str) -> None:
    played = rollout(ABOUT, builtin_policy(policy, [ABOUT]), DRAFTS, SPEC)
    replies = {step.request.id: step for step in played.steps}
    rows = list(RowMaker(DRAFTS, SPEC).rows(ABOUT))
    assert rows
    values = []
    for row in rows:
        step = replies[row["id"]]
        assert score_row(row, step.reply) == step.score
        turn = truth_of(ABOUT).turn(row["turn"])
        assert turn is not None
        found = reader().read(Exchange(turn.message, step.outcome.text, turn.history))  # type: ignore[union-attr]
        wants = [(q, want) for q, want in turn.preferred if q in READ]
        values.append(sum(found[q] == want for q, want in wants) / len(wants))
        assert step.score.parts[PART] == pytest.approx(values[-1], abs=1e-12)
    prediction, _ = read_record(played.result, ABOUT)
    assert prediction.turns[1].draft is not None
    scores = score_conversation(ABOUT, prediction)
    assert scores[f"avg_{PART}"] == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert scores["avg_draft_reader_agreement"] is None


def test_it_is_measured_from_a_draft_that_does_nothing() -> None:
    spec = SPEC.measured_from({PART: ALL_NO}, "written train part")
    (row, *_) = RowMaker(DRAFTS, spec).rows(ABOUT)
    found = score_row(row, "Hm.")
    assert found.value == pytest.approx((found.parts[PART] - ALL_NO) / (1 - ALL_NO))


def test_a_draft_is_read_once_by_a_reward_and_the_score_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Exchange] = []
    real = FittedReader.read

    def counted(self: FittedReader, exchange: Exchange) -> dict[str, YesNo]:
        asked.append(exchange)
        return real(self, exchange)

    monkeypatch.setattr(FittedReader, "read", counted)
    read.cache_clear()
    played = rollout(ABOUT, lambda chat: f"A draft about message {len(chat)}.", DRAFTS, SPEC)
    scores = score_conversation(ABOUT, played.prediction)
    assert scores[f"avg_{PART}"] is not None
    assert len(asked) == len(set(asked)) == len(ABOUT.turns)
