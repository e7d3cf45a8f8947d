"""The stable road: rows and reward functions in GRPOTrainer and RLOOTrainer, two real steps each."""

from __future__ import annotations

import math
from typing import Any

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data import Conversations
from attune_episodes import score_row
from attune_episodes.training import reward_functions, training_dataset
from tests.extras.trl import tiny

REWARD = "skill"


class Recorder:
    """A reward function that keeps what went in and came out."""

    def __init__(self, function: Any) -> None:
        self.function, self.__name__, self.calls = function, function.__name__, []  # type: ignore[var-annotated]

    def __call__(self, **given: Any) -> Any:
        values = self.function(**given)
        self.calls.append((given["completions"], given["truth"], list(values)))
        return values


def rows(reward: str = REWARD) -> Any:
    return training_dataset(Conversations(tiny.short()[:4]), settings=tiny.ASKED, reward=reward)


@pytest.fixture(scope="module")
def grpo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[Recorder], Any]:
    """(trainer, its reward functions, the model before) after two steps."""
    data, before = rows(), tiny.model()
    functions = reward_functions(REWARD, data)
    recorders = [Recorder(function) for function in functions]
    trainer = GRPOTrainer(
        model=tiny.model(),
        reward_funcs=recorders,
        args=GRPOConfig(
            **tiny.sampling(tmp_path_factory.mktemp("grpo"), reward_weights=[f.weight for f in functions])
        ),
        train_dataset=data,
        processing_class=tiny.tokenizer(),
    )
    trainer.train()
    return trainer, recorders, before


def test_two_steps_of_grpo_learn_from_different_rewards(grpo: tuple[Any, list[Recorder], Any]) -> None:
    trainer, _, before = grpo
    assert trainer.state.global_step == 2
    assert all(entry["frac_reward_zero_std"] < 1 for entry in trainer.state.log_history if "reward" in entry)
    assert tiny.changed(before, trainer.model.to("cpu"))


def test_rewards_of_the_parts_sum_to_the_score_of_the_row(grpo: tuple[Any, list[Recorder], Any]) -> None:
    _, recorders, _ = grpo
    assert [len(recorder.calls) for recorder in recorders] == [2] * len(recorders)
    seen = set()
    for step in range(2):
        completions, truths, _ = recorders[0].calls[step]
        for index, (completion, truth) in enumerate(zip(completions, truths, strict=True)):
            direct = score_row({"truth": truth}, completion[0]["content"])
            values = {r.__name__: (r.calls[step][2][index], r.function.weight) for r in recorders}
            assert {name for name, (value, _) in values.items() if value is not None} == set(direct.parts)
            paid = math.fsum(value * weight for value, weight in values.values() if value is not None)
            assert direct.value is not None
            assert abs(paid - direct.value) <= 1e-12
            seen.add(direct.reason)
    assert "ok" in seen
    assert len(seen) > 1, "the tiny model wrote nothing that cannot be read"


def test_parts_and_parse_rate_are_logged(grpo: tuple[Any, list[Recorder], Any]) -> None:
    trainer, recorders, _ = grpo
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    for step, entry in enumerate(logged):
        completions, truths, _ = recorders[0].calls[step]
        scores = [score_row({"truth": t}, c[0]["content"]) for c, t in zip(completions, truths, strict=True)]
        read = sum(score.reason == "ok" for score in scores) / len(scores)
        assert entry["attune/parse_rate"] == pytest.approx(read, abs=1e-6)
        assert entry["reward"] == pytest.approx(
            math.fsum(s.value or 0.0 for s in scores) / len(scores), abs=1e-5
        )
        for part in {name for score in scores for name in score.parts}:
            of_part = [score.parts[part] for score in scores if part in score.parts]
            assert entry[f"attune/{part}"] == pytest.approx(math.fsum(of_part) / len(of_part), abs=1e-6)
