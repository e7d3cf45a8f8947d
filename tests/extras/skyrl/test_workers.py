"""SkyRL's own generator, alone and on Ray, pays the reward of each row."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

for name in ("ray", "torch", "transformers", "skyrl"):
    pytest.importorskip(name)
if sys.version_info < (3, 12):
    pytest.skip("SkyRL 0.3 cannot be imported before Python 3.12", allow_module_level=True)

import ray  # noqa: E402
from skyrl.train.config import GeneratorConfig, SkyRLGymConfig  # noqa: E402
from skyrl.train.dataset import PromptDataset  # noqa: E402
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator  # noqa: E402
from skyrl.train.generators.utils import prepare_generator_input  # noqa: E402

from attune_episodes import score_row  # noqa: E402
from attune_episodes.frameworks.skyrl import register_environments  # noqa: E402
from attune_episodes.training import to_skyrl  # noqa: E402
from tests.documents import ROOT  # noqa: E402
from tests.extras.bytewise import model_folder, tokenizer  # noqa: E402

sys.path.insert(0, str(ROOT / "examples" / "scale"))

from map_rows import replied_rows, with_reward  # noqa: E402
from skyrl_workers import Answers, played  # noqa: E402


def test_rows_on_several_generators_earn_what_one_process_gives(tmp_path: Path) -> None:
    rows, folder = replied_rows(5), model_folder(tmp_path / "model")
    path = {"env_vars": {"PYTHONPATH": str(ROOT / "examples" / "scale")}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=path)
    try:
        task = ray.remote(num_cpus=1)(played)
        halves = ray.get([task.remote(rows.shard(2, part), folder) for part in range(2)])
    finally:
        ray.shutdown()
    assert halves[0] | halves[1] == {row["id"]: with_reward(row)["value"] for row in rows}


def test_skyrls_reader_and_generator_take_our_file_of_requests(tmp_path: Path) -> None:
    register_environments()
    rows = replied_rows(2)
    to_skyrl(rows).to_parquet(tmp_path / "train.parquet")
    read = PromptDataset(str(tmp_path / "train.parquet"), tokenizer(), 10**6, num_workers=1)
    replies = [{"id": place, "reply": reply} for place, reply in enumerate(rows["reply"])]
    sizes = GeneratorConfig(max_input_length=10**6)
    generator = SkyRLGymGenerator(sizes, SkyRLGymConfig(), Answers(tokenizer(), replies), tokenizer())
    given = read.collate_fn([read[place] for place in range(len(read))])
    asked, _ = prepare_generator_input(given, 1, None, "", "train", 0)
    done = asyncio.run(generator.generate(asked, disable_tqdm=True))
    want = [score_row(row, row["reply"]) for row in rows]
    assert [sum(rewards) for rewards in done["rewards"]] == [score.value for score in want]
    metrics = done["rollout_metrics"]
    assert metrics["environment/parse_rate"] == sum(one.reason == "ok" for one in want) / len(want)


def test_skyrls_generator_puts_each_turns_reward_at_its_end() -> None:
    register_environments()
    rows = replied_rows(1)
    (given,) = to_skyrl(rows, whole=True)
    replies = iter([{"id": "0", "reply": reply} for reply in rows["reply"]])

    class InTurn(Answers):
        """The replies to the requests of one conversation, in their order."""

        async def generate(self, asked: Any, model: str | None = None) -> dict[str, Any]:
            self.replies = {"0_0": next(replies)["reply"]}
            return await super().generate(asked, model)

    sizes = GeneratorConfig(max_input_length=10**7, max_turns=len(rows))
    generator = SkyRLGymGenerator(sizes, SkyRLGymConfig(), InTurn(tokenizer(), []), tokenizer())
    asked, _ = prepare_generator_input([{**given, "uid": "0", "env_extras": given}], 1, None, "", "train", 0)
    done = asyncio.run(generator.generate(asked, disable_tqdm=True))
    want = [score_row(row, row["reply"]).reward for row in rows]
    (tokens,), (own,) = done["rewards"], done["loss_masks"]
    ends = [at for at, mask in enumerate(own) if mask and (at + 1 == len(own) or not own[at + 1])]
    assert [tokens[at] for at in ends] == want
    assert sum(tokens) == sum(want)
