"""The engine's episodes as Gymnasium and verifiers play them, with the replies of `traces`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from attune_data import Conversation, Conversations
from attune_episodes import Request, Unparsed, builtin_policy, parse, plan
from attune_episodes.play.policy import prepared
from attune_rewards import STAGES
from tests.endpoint import Book, serve
from tests.frameworks.gymnasium.play import WRAPPERS, answer, inner, make
from tests.frameworks.verifiers.play import environment, played
from tests.frozen.keeping import digest, kept
from tests.frozen.traces import replies, result_of, sample

Json = dict[str, Any]
EARNING = ("assess", "prefer", "reflect")
ACTIONS = "gymnasium_actions"
"""Dict actions, made once of `replies`: what these arrays earn must not change, however they are made."""


# --- Gymnasium -----------------------------------------------------------------------------------


def gymnasium() -> Json:
    """`Attune/Conversation-v0` by request and by turn: Dict actions, JSON texts, typed predictions."""
    found: Json = {}
    one = Conversations(sample()[:1])
    for step, stages, form in product(("request", "turn"), (EARNING, STAGES), WRAPPERS):
        env = make(*WRAPPERS[form], data=one, step=step, stages=stages, sampling="sequential")
        found[f"{step}, {' '.join(stages)}, {form}"] = _env_episode(env, form, step, stages)
    env = make(data="sample", step="turn", reward="skill", dense=False, sampling="shuffled")
    orders = [env.reset(seed=seed)[1]["conversation_id"] for seed in (11, None, None, None, None, None)]
    return {**found, "order of seed 11": orders}


class _Said:
    """The policy of `replies`, as far as typed answers can be made of them."""

    name = "said"

    def __init__(self, about: Conversation) -> None:
        self.texts = replies(about)
        self.others = prepared(builtin_policy("prior", sample()), about)

    def reply(self, request: Request) -> Any:
        text = self.texts[request.id]
        return self.others.reply(request) if isinstance(parse(request, text), Unparsed) else text


def _env_episode(env: Any, form: str, step: str, stages: Sequence[Any]) -> Json:
    about = sample()[0]
    said, hp = _Said(about), "assess_hp" in stages
    actions = iter(kept(ACTIONS)[f"{step}, {' '.join(stages)}"]) if form == "structured" else None
    observation, info = env.reset(seed=0)
    opening = {name: value for name, value in info.items() if name != "request"}
    steps, ended = [], False
    while not ended:
        shown = _observation(observation)
        if actions is not None:
            kept_action = next(actions)
            action: Any = {
                n: np.array(v, np.int8) if isinstance(v, list) else v for n, v in kept_action.items()
            }
        elif form == "json" and step == "request":
            action = replies(about)[info["request"].id]
        else:
            action = answer(form, said, info, hp=hp)
        observation, reward, ended, truncated, info = env.step(action)
        assert not truncated
        told = {name: info[name] for name in ("scored", "parts", "value", "status")}
        steps.append({"shown": shown, "reward": reward, **told})
    return {
        "spaces": [str(inner(env).action_space), str(inner(env).observation_space)],
        "opening": opening,
        "steps": steps,
        "after": _observation(observation),
        "info": sorted(info),
        "total": info["total"],
        "total_name": info["total_name"],
        "result": result_of(dict(info["result"])),
        "composite": [info["metrics"][name] for name in ("composite_exact", "composite_strict")],
    }


def _observation(shown: Mapping[str, Any]) -> str:
    def short(value: Any) -> Any:
        if isinstance(value, int):
            return value
        return digest(value if isinstance(value, str) else [*map(int, value)], 6)

    return " ".join(f"{name}={short(value)}" for name, value in shown.items())


# --- verifiers -----------------------------------------------------------------------------------


def book(number: int) -> Book:
    """The answers of a server: `replies` to the first conversations."""
    made = Book()
    for about in sample()[:number]:
        for request in plan(about):
            made.add(request, replies(about)[request.id])
    return made


def verifiers() -> Json:
    """The verifiers environment against a server on loopback, by conversation and by request."""
    found: Json = {}
    for granularity, reward in product(("conversation", "request"), ("composite", "skill")):
        settings = {"number": 2, "granularity": granularity, "reward": reward}
        with serve(book(2)) as server:
            env = environment(settings, {"harness": {"parallel": 4, "reasks": 0}})
            traces = played(env, server.url)
        found[f"{granularity}, {reward}"] = {
            str(trace.task.key): {"rewards": trace.rewards, "metrics": trace.metrics} for trace in traces
        }
    plain_values: Json = json.loads(json.dumps(found, default=lambda model: model.model_dump(mode="json")))
    return plain_values
