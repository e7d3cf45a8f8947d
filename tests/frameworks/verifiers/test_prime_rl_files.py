"""The prime-rl files of `examples/prime_rl/`: every source means what it says, and no slip goes unnoticed.

prime-rl is not on the package index. What it takes of verifiers it embeds as it is: the blocks `env`,
`serve` and `select` of a source. These are validated here with the installed classes; what stands beside
them is prime-rl's own.
"""

from __future__ import annotations

import copy
import tomllib
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import BaseModel, ConfigDict, SerializeAsAny, model_validator

from attune_data import load
from attune_data.source.guard import for_training
from attune_episodes.frameworks.verifiers import AttuneTaskset
from attune_episodes.frameworks.verifiers.arguments import AttuneEnvConfig, AttuneHarnessConfig
from attune_rewards import RewardSpec

FOLDER = Path(__file__).parents[3] / "examples" / "prime_rl"
Json = dict[str, Any]


class Source(BaseModel):
    """A source as prime-rl declares it: verifiers' blocks, narrowed to the environment that is named."""

    model_config = ConfigDict(extra="forbid")

    env: SerializeAsAny[vf.EnvConfig] = vf.SingleAgentEnvConfig()
    serve: vf.ServeConfig = vf.ServeConfig()
    select: vf.SelectConfig = vf.SelectConfig()
    name: str | None = None
    sampling: Json | None = None

    @model_validator(mode="before")
    @classmethod
    def _narrow(cls, data: Any) -> Any:
        return vf.resolve_env_field(data, vf.narrowed_env_annotation(cls))


@cache
def _read(name: str) -> Json:
    return tomllib.loads((FOLDER / name).read_text("utf-8"))


def raw(which: Literal["eval", "train", "held-out"]) -> Json:
    """The one source of that kind, as it stands in its file."""
    if which == "eval":
        (source,) = _read("eval.toml")["source"]
    else:
        group = "train" if which == "train" else "eval"
        (source,) = _read("rl.toml")["orchestrator"][group]["source"]
    return copy.deepcopy(source)


ALL: tuple[Literal["eval", "train", "held-out"], ...] = ("eval", "train", "held-out")


def config(which: Literal["eval", "train", "held-out"], **taskset: Any) -> AttuneEnvConfig:
    source = raw(which)
    source["env"]["taskset"] |= taskset
    env = Source.model_validate(source).env
    assert isinstance(env, AttuneEnvConfig)
    return env


def tasks(which: Literal["eval", "train", "held-out"], count: int = 12, **taskset: Any) -> list[Any]:
    """Its first tasks, made through verifiers' own loading."""
    loaded = vf.load_taskset(config(which, **taskset).taskset)
    assert isinstance(loaded, AttuneTaskset)
    return list(islice(loaded, count))


def test_evaluation_plays_whole_conversations_in_the_protocols_primary_mode() -> None:
    found = tasks("eval", 100)
    assert len(found) == 20
    assert {task.data.granularity for task in found} == {"conversation"}
    assert config("eval").taskset.mode == "default"
    assert config("eval").taskset.prompts == "full"
    assert config("eval").taskset.reward == "composite"


def test_training_is_by_request_on_the_part_of_written_that_is_for_it() -> None:
    found = config("train").taskset
    assert found.training
    assert (found.data, found.granularity, found.reward) == ("written", "request", "skill")
    some = tasks("train", number=2)
    assert {task.data.request.rsplit("/", 1)[1] for task in some} <= {"assess", "prefer", "reflect"}
    assert {task.data.task.spec.name for task in some} == {RewardSpec.preset("skill").name}
    assert for_training([task.data.task.conversation for task in some]) == "played"
    harness = config("train").agent.harness
    assert isinstance(harness, AttuneHarnessConfig)
    assert harness.reasks == 0


def test_the_measure_on_held_out_people_is_the_composite() -> None:
    trained, held = config("train").taskset, config("held-out").taskset
    assert (trained.stages, trained.prompts) == (held.stages, held.prompts)
    assert (held.data, held.reward, held.granularity) == ("written:dev", "composite", "conversation")
    assert len(tasks("held-out", 100)) == len(load("written:dev"))
