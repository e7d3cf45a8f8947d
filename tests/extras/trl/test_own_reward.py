"""Parts of your own in real training: rows and functions by the name of a file, and the page's own code."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data import Conversations
from attune_episodes import Settings, score_row
from attune_episodes.training import RowReward, reward_functions, training_dataset
from tests.documents import ROOT
from tests.extras.pages import run_page
from tests.extras.trl import tiny
from tests.extras.trl.test_document import FEW

MINE = str(ROOT / "examples" / "custom_reward.py")
OWN = {"weighted_picks", "names_the_feeling"}
Values = list[float | None]


def test_two_steps_of_grpo_are_paid_by_the_functions_of_a_file(tmp_path: Path) -> None:
    asked = Settings(prompts="compact", stages=("draft", "prefer"))
    rows = training_dataset(Conversations(tiny.short()[:2]), settings=asked, reward=MINE, shuffle=0)
    functions = reward_functions(MINE, rows)
    paid: list[tuple[list[str], list[str], Values]] = []

    def whole(completions: list[list[dict[str, str]]], truth: list[str], **given: object) -> Values:
        values = RowReward(MINE)(completions=completions, truth=truth)
        paid.append(([one[0]["content"] for one in completions], truth, values))
        return values

    weights = [*(function.weight for function in functions), 0.0]
    trainer = GRPOTrainer(
        model=tiny.model(),
        reward_funcs=[*functions, whole],
        args=GRPOConfig(**tiny.sampling(tmp_path, reward_weights=weights)),
        train_dataset=rows,
        processing_class=tiny.tokenizer(),
    )
    trainer.train()
    assert trainer.state.global_step == 2
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert {name for entry in logged for name in OWN if f"attune/{name}" in entry} == OWN
    for entry, (texts, truths, values) in zip(logged, paid, strict=True):
        scores = [
            score_row({"truth": truth}, text, spec=MINE).value
            for truth, text in zip(truths, texts, strict=True)
        ]
        assert values == scores
        mean = math.fsum(score or 0.0 for score in scores) / len(scores)
        assert entry["reward"] == pytest.approx(mean, abs=1e-5)


def test_the_page_runs(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_reward.py").write_text(Path(MINE).read_text("utf-8"), "utf-8")
    smaller = (
        repr(str(saved)),
        "max_steps=2",
        '"sample", number=4, ',
        "",
        f'GRPOConfig("out", num_generations=4, max_completion_length=16, {FEW},',
    )
    (names,) = run_page("custom-reward.md", *smaller)
    assert names["trainer"].state.global_step == 2
