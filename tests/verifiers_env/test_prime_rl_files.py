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

import pytest
import verifiers.v1 as vf
from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationError, model_validator
from renderers.base import MODEL_RENDERER_MAP

from attune_data.guard import for_training
from attune_episodes.verifiers_env import (
    AttuneEnv,
    AttuneEnvConfig,
    AttuneHarnessConfig,
    AttuneTaskset,
)
from attune_rewards import RewardSpec
from attune_rewards.truth import truth_of

FOLDER = Path(__file__).parents[2] / "examples" / "prime_rl"
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


@pytest.mark.parametrize("which", ALL)
def test_a_source_names_our_environment_with_its_own_harness_in_this_process(
    which: Literal["eval", "train", "held-out"],
) -> None:
    found = config(which, number=3)
    assert isinstance(found.agent.harness, AttuneHarnessConfig)
    assert isinstance(found.agent.runtime, vf.SubprocessConfig)
    assert isinstance(vf.load_environment(found), AttuneEnv)


@pytest.mark.parametrize("which", ALL)
def test_the_config_survives_the_way_to_an_env_server(which: Literal["eval", "train", "held-out"]) -> None:
    source = Source.model_validate(raw(which))
    again = Source.model_validate(source.model_dump(mode="json"))
    assert again == source
    assert isinstance(again.env, AttuneEnvConfig)


def test_evaluation_plays_whole_conversations_in_the_protocols_primary_mode() -> None:
    found = tasks("eval", 100)
    assert len(found) == 20
    assert {task.data.granularity for task in found} == {"conversation"}
    assert config("eval").taskset.mode == "default"
    assert config("eval").taskset.prompts == "full"
    assert config("eval").taskset.reward == "composite"


def test_training_is_by_request_on_simulated_people_only() -> None:
    found = config("train").taskset
    assert found.training
    assert (found.data, found.granularity, found.reward) == ("simulated", "request", "skill")
    assert found.number is not None
    some = tasks("train", number=2)
    assert {task.data.request.rsplit("/", 1)[1] for task in some} <= {"assess", "prefer", "reflect"}
    assert {task.data.task.spec.name for task in some} == {RewardSpec.preset("skill").name}
    assert for_training([task.data.task.conversation for task in some]) == "simulated"
    harness = config("train").agent.harness
    assert isinstance(harness, AttuneHarnessConfig)
    assert harness.reasks == 0


def test_held_out_people_are_others_and_the_measure_is_the_composite() -> None:
    trained, held = config("train").taskset, config("held-out").taskset
    assert trained.world_seed != held.world_seed
    assert (trained.level, trained.stages, trained.prompts) == (held.level, held.stages, held.prompts)
    assert (held.reward, held.granularity) == ("composite", "conversation")
    people = [
        {task.data.task.conversation.participant for task in tasks(which, 200, number=12)}
        for which in ("train", "held-out")
    ]
    assert people[0]
    assert people[1]
    assert not people[0] & people[1]


def test_both_sides_have_enough_to_do() -> None:
    # 200 steps of 128 / 8 tasks each are 3,200; a conversation has two scored requests a turn, and reflect
    rl = _read("rl.toml")
    needed = rl["max_steps"] * rl["orchestrator"]["batch_size"] // rl["orchestrator"]["train"]["group_size"]
    assert rl["orchestrator"]["batch_size"] % rl["orchestrator"]["train"]["group_size"] == 0
    some = [task.data.task.conversation for task in tasks("train", 10_000, number=10)]
    number = config("train").taskset.number
    assert number is not None
    assert number * len(some) / 10 >= needed
    assert all(truth_of(conversation).turns for conversation in some)


def test_prompts_and_answers_fit_into_the_length_that_is_trained_on() -> None:
    rl = _read("rl.toml")
    for_answers = rl["orchestrator"]["train"]["sampling"]["max_completion_tokens"]
    longest = max(
        sum(len(message.content) for message in task.data.task.requests[0].messages)
        for task in tasks("train", 10_000, number=20)
    )
    # English has more than three characters a token in the tokenizers of today
    assert longest / 3 + for_answers <= rl["seq_len"]


@pytest.mark.parametrize("name", ["eval.toml", "rl.toml"])
def test_the_model_has_a_renderer_of_its_own(name: str) -> None:
    # prime-rl refuses to train a model for which it would have to fall back
    found = _read(name)
    model = found["model"] if name == "eval.toml" else found["model"]["name"]
    assert model in MODEL_RENDERER_MAP


SLIPS = [
    ("env.tasksets.id", "attune-env"),
    ("env.taskset.granularty", "request"),
    ("env.taskset.granularity", "turn"),
    ("env.taskset.mode", "quiet"),
    ("env.taskset.number", 0),
    ("env.taskset.world_seed", "one"),
    ("env.taskset.task.judge", True),
    ("env.agent.harness.paralel", 4),
    ("env.agent.harness.parallel", 0),
    ("env.agent.max_turn", 3),
    ("env.harness.id", "attune-env"),
    ("env.agent.runtime.type", "cloud"),
    ("serve.pool.type", "rubber"),
    ("serve.workers", 2),
    ("select.limits", 5),
    ("envs.taskset.id", "attune-env"),
]


@pytest.mark.parametrize(("key", "value"), SLIPS)
@pytest.mark.parametrize("which", ALL)
def test_a_slip_in_a_key_or_a_value_is_refused_naming_it(
    which: Literal["eval", "train", "held-out"], key: str, value: Any
) -> None:
    source = raw(which)
    *path, last = key.split(".")
    place = source
    for name in path:
        place = place.setdefault(name, {})
    place[last] = value
    with pytest.raises(ValidationError) as caught:
        Source.model_validate(source)
    named = path[0] if path[0] == "envs" else "harness" if key == "env.harness.id" else last
    named = path[-1] if key == "env.tasksets.id" else named
    assert named.removesuffix(".type") in str(caught.value)


def test_a_harness_that_cannot_play_conversations_is_refused() -> None:
    source = raw("eval")
    source["env"]["agent"]["harness"] = {"id": "null"}
    with pytest.raises(ValidationError, match="cannot play whole conversations"):
        Source.model_validate(source)


def test_what_the_files_link_to_and_name_is_there() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    for name in ("eval.toml", "rl.toml"):
        assert f"]({name})" in text
        assert f"examples/prime_rl/{name}" in text
        assert f"@ examples/prime_rl/{name}" in (FOLDER / name).read_text("utf-8")
    assert (FOLDER / "../../docs/simulator.md").resolve().is_file()
