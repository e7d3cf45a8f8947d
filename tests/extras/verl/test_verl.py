"""verl's configuration, file reader, reward managers and validation metrics over our rows. No training."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import datasets
import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_module
from verl import DataProto
from verl.trainer.ppo.metric_utils import process_validation_metrics
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.reward_manager import NaiveRewardManager

from attune_data import load
from attune_episodes import builtin_policy, rollout, score_row
from attune_episodes.frameworks.verl import compute_score
from attune_episodes.training import to_verl, training_dataset
from tests.extras.bytewise import tokenizer
from tests.extras.pages import DOCS, run_page
from tests.training.batches import replies

ROWS: Final = training_dataset("sample").select(range(12))


@cache
def configured() -> Any:
    """verl's configuration with the options that the page shows."""
    page = (DOCS / "trainers.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"python -m verl\.trainer\.main_ppo (.*?) …\n```", page, re.DOTALL)
    options = command.replace("\\\n", " ").split()
    assert "reward.custom_reward_function.name=compute_score" in options
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=options)


def answered() -> list[tuple[int, str]]:
    """(index of a row, what was said): right, wrong, unreadable, with accents and emoji, empty."""
    pairs = [(index, text) for index in range(len(ROWS)) for text in replies()[ROWS[index]["id"]]]
    return [*pairs, (0, "Ils étaient 🫠 déçus."), (1, " "), (2, '{"emotions": [')]


def batch(pairs: list[tuple[int, str]]) -> Any:
    """The batch that verl hands to a reward manager."""
    made = to_verl(ROWS)
    ids = [tokenizer()(text)["input_ids"] for _, text in pairs]
    width = max(map(len, ids))
    responses = torch.full((len(pairs), width), tokenizer().pad_token_id)
    mask = torch.zeros((len(pairs), 1 + width), dtype=torch.long)
    mask[:, 0] = 1
    for row, tokens in enumerate(ids):
        responses[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, 1 : 1 + len(tokens)] = 1
    columns = {
        name: np.array([made[index][name] for index, _ in pairs], dtype=object)
        for name in ("data_source", "reward_model", "extra_info")
    }
    prompts = torch.zeros((len(pairs), 1), dtype=torch.long)
    tensors = {"prompts": prompts, "responses": responses, "attention_mask": mask}
    return DataProto.from_dict(tensors=tensors, non_tensors=columns)


def test_the_reward_manager_that_verl_trains_with_pays_the_rows_reward() -> None:
    manager = load_reward_manager(configured(), tokenizer())
    pairs = answered()
    data = batch(pairs)
    for place, (index, text) in enumerate(pairs):
        got = manager.loop.run_until_complete(manager.run_single(data[place : place + 1]))
        want = score_row(ROWS[index], text)
        assert got["reward_score"] == want.value
        info = got["reward_extra_info"]
        assert (info["score"], info["parsed"]) == (want.value, float(want.reason == "ok"))
        assert {name: info[name] for name in want.parts} == dict(want.parts)


def test_the_rewards_of_a_conversations_rows_add_up_to_its_return_by_weight() -> None:
    about = load("sample")[0]
    played = rollout(about, builtin_policy("lexicon", load("sample")), reward="skill")
    said = {step.request.id: step.reply for step in played.steps}
    pairs = [(index, said[row["id"]]) for index, row in enumerate(ROWS) if row["id"] in said]
    manager, data = load_reward_manager(configured(), tokenizer()), batch(pairs)
    earned = [
        one.non_tensor_batch["extra_info"][0]["weight"]
        * manager.loop.run_until_complete(manager.run_single(one))["reward_score"]
        for one in (data[place : place + 1] for place in range(len(pairs)))
    ]
    assert sum(earned) == pytest.approx(played.total, abs=1e-12)


def test_the_reward_manager_for_batches_pays_the_rows_reward_at_the_last_token() -> None:
    pairs = answered()
    manager = NaiveRewardManager(tokenizer=tokenizer(), num_examine=0, compute_score=compute_score)
    made = manager(batch(pairs), return_dict=True)
    want = [score_row(ROWS[index], text).value for index, text in pairs]
    assert made["reward_extra_info"]["score"] == want
    # single precision, as verl holds rewards
    assert made["reward_tensor"].sum(1).tolist() == pytest.approx(want, abs=1e-6)
    for row, (_, text) in enumerate(pairs):
        last = len(tokenizer()(text)["input_ids"]) - 1
        assert made["reward_tensor"][row].nonzero().tolist() in ([[last]], [])


def test_validation_is_reported_by_stage_over_the_rows_that_ask_for_a_part() -> None:
    pairs = answered()
    rows = [ROWS[index] for index, _ in pairs]
    infos = [compute_score("", text, row["truth"]) for row, (_, text) in zip(rows, pairs, strict=True)]
    sources = [f"attune/{row['stage']}" for row in rows]
    told = process_validation_metrics(
        sources,
        [f"{row['id']}-{place}" for place, row in enumerate(rows)],
        {name: [info[name] for info in infos] for name in infos[0]},
    )
    assert set(told) == set(sources) == {"attune/assess", "attune/prefer", "attune/reflect"}
    assert "pairwise" not in told["attune/assess"]
    assert "emotion_f1" not in told["attune/prefer"]
    for source, part in (("attune/assess", "emotion_f1"), ("attune/prefer", "pairwise")):
        for name in ("score", "parsed", part):
            of_it = [info[name] for info, own in zip(infos, sources, strict=True) if own == source]
            scored = [value for value in of_it if value is not None]
            assert told[source][name]["mean@1"] == pytest.approx(sum(scored) / len(scored))


@pytest.fixture
def cache_of_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """verl reads files through the cache of `datasets`: here, and not in the home folder."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.usefixtures("cache_of_datasets")
def test_verl_reads_our_files(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    to_verl(ROWS).to_parquet(path)
    settings = configured().data.copy()
    settings.filter_overlong_prompts, settings.filter_overlong_prompts_workers = True, 1
    settings.max_prompt_length = 1_000_000
    read = RLHFDataset([str(path)], tokenizer(), settings)
    assert len(read) == len(ROWS)
    for row, want in zip(read, ROWS, strict=True):
        assert list(row["raw_prompt"]) == want["prompt"]
        assert row["reward_model"]["ground_truth"] == want["truth"]
        assert row["data_source"] == f"attune/{want['stage']}"
    # verl leaves out what is longer than it may be; a token is a byte here, and each message ends a line
    lengths = sorted(sum(len(m["content"].encode()) + 1 for m in row["prompt"]) for row in ROWS)
    settings.max_prompt_length = lengths[4]
    kept = [length for length in lengths if length <= lengths[4]]
    assert len(RLHFDataset([str(path)], tokenizer(), settings)) == len(kept) < len(ROWS)


@pytest.mark.usefixtures("cache_of_datasets")
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(list(run_page("trainers.md", "training_dataset(data, number=2, ", section="verl"))) == 1
    for name, first in (("train", load("written:train")[0].conversation_id), ("val", "sample-01")):
        rows = datasets.Dataset.from_parquet(f"{name}.parquet", cache_dir=str(tmp_path / "rows"))
        assert rows[0]["extra_info"]["conversation_id"] == first
