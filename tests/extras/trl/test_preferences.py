"""Preference pairs and demonstrations in TRL's own trainers, two real steps each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from attune_episodes.training import demonstrations, preference_pairs
from tests.extras.trl import tiny


def learnt(trainer: Any, before: Any) -> dict[str, float]:
    """The log of the first step of a trainer that has made two."""
    trainer.train()
    assert trainer.state.global_step == 2
    assert tiny.changed(before, trainer.model)
    logged: dict[str, float] = next(entry for entry in trainer.state.log_history if "loss" in entry)
    assert math.isfinite(logged["loss"])
    return logged


def tokens(messages: list[dict[str, str]]) -> list[int]:
    ids: list[int] = tiny.tokenizer().apply_chat_template(messages, tokenize=True, return_dict=False)
    return ids


def test_two_steps_of_dpo_take_the_pairs_as_they_are(saved: Path, tmp_path: Path) -> None:
    pairs = preference_pairs(tiny.short())
    trainer = DPOTrainer(
        model=str(saved),  # the reference model is loaded from there too
        args=DPOConfig(**tiny.arguments(tmp_path, per_device_train_batch_size=4, max_length=4096)),
        train_dataset=pairs,
        processing_class=tiny.tokenizer(),
    )
    logged = learnt(trainer, tiny.model())
    assert logged["loss"] == pytest.approx(math.log(2), abs=1e-3)  # policy and reference are still the same
    assert len(trainer.train_dataset) == len(pairs)
    words, first = tiny.tokenizer(), trainer.train_dataset[0]
    assert words.decode(first["chosen_ids"]).startswith(pairs[0]["chosen"][0]["content"])
    assert words.decode(first["rejected_ids"]).startswith(pairs[0]["rejected"][0]["content"])
    assert pairs[0]["prompt"][-1]["content"] in words.decode(first["prompt_ids"])


def test_two_steps_of_fine_tuning_learn_from_the_completion_only(tmp_path: Path) -> None:
    rows = demonstrations(tiny.short(), system="You are kind.")
    trainer = SFTTrainer(
        model=tiny.model(),
        args=SFTConfig(**tiny.arguments(tmp_path, per_device_train_batch_size=4)),
        train_dataset=rows,
        processing_class=tiny.tokenizer(),
    )
    learnt(trainer, tiny.model())
    first = trainer.train_dataset[0]
    assert first["input_ids"] == tokens(rows[0]["prompt"] + rows[0]["completion"])
    batch = trainer.data_collator([first])
    kept = [int(i) for i in batch["labels"][0] if int(i) != -100]
    assert tiny.tokenizer().decode(kept).startswith(rows[0]["completion"][0]["content"])
