"""Whole episodes of the engine, step by step; and the replies that every adapter gets here.

They are the word list's, every third of them broken in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attune_data import Conversation, Conversations, load
from attune_env.audit.attacks import EXPLOITS, SURFACE, ExploitPolicy, play
from attune_episodes import BUILTIN, Episode, Settings, builtin_policy, plan, rollout
from attune_episodes.play.policy import prepared
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task, replay, scores_of
from attune_rewards import PRESETS, RewardSpec, read_record
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.reward.spec_files import describe_reward, reward_from
from tests.audit.silence import UNANNOTATED, UNANSWERED, without
from tests.frozen.keeping import digest
from tests.training.batches import BROKEN, SPECS

Json = dict[str, Any]
UNREAD = tuple(text for text in BROKEN if "\ud800" not in text)
"""Replies that hold no answer, as far as a server can send them."""
TIME = "2026-01-01T00:00:00+00:00"


@cache
def sample() -> Conversations:
    """The conversations that are played; the first two in full."""
    return load("sample")


def replies(about: Conversation, settings: Settings | None = None) -> dict[str, str]:
    """Request id -> reply."""
    return _replies(about.conversation_id, settings or Settings())


@cache
def _replies(conversation_id: str, settings: Settings) -> dict[str, str]:
    about = sample().by_id[conversation_id]
    player = prepared(builtin_policy("lexicon", sample(), settings), about)
    said = {}
    for number, request in enumerate(plan(about, settings)):
        text = player.reply(request)
        assert isinstance(text, str)
        said[request.id] = UNREAD[number // 3 % len(UNREAD)] if number % 3 == 2 else text
    return said


def step_of(name: str, reply: str, status: str | None, reward: float | None, earned: Any) -> Json:
    """A scored reply; `earned` is a `Score`, or has its fields."""
    return {
        "id": name.split("/", 1)[1], "reply": digest(reply, 6), "status": status, "reason": earned.reason,
        "value": earned.value, "reward": reward, "weight": earned.weight, "parts": dict(earned.parts),
    }  # fmt: skip


def in_full(
    about: Conversation, settings: Settings | None = None, reward: RewardSpec | str | None = None
) -> Json:
    """An `Episode` of the engine."""
    episode = Episode(about, settings, reward)
    said = replies(about, episode.settings)
    while not episode.done:
        episode.submit(said[episode.request.id])
    return {
        "steps": [step_of(s.request.id, s.reply, s.status, s.reward, s.score) for s in episode.steps],
        "total": episode.total,
        "total_name": episode.total_name,
        "result": result_of(episode.result("test/model")),
    }


def result_of(record: Mapping[str, Any]) -> Json:
    """A result record as hashes: of each field, and of each turn."""
    hashes = {name: digest(value, 6) for name, value in record.items() if name != "turns"}
    turns = " ".join(digest(turn, 6) for turn in record["turns"])
    return hashes | {"run_timestamp": digest(TIME, 6), "turns": turns}


def episodes() -> Json:
    """The engine: conversations in full, every preset, settings, and every policy's total."""
    one, two = sample()[:2]
    custom = RewardSpec.preset("composite").with_part("long", "draft", _long, 0.5).terminal()
    specs = {**{name: RewardSpec.preset(name) for name in PRESETS}, **SPECS, "long, terminal": custom}
    asked = {
        "verbose, delta": Settings(mode="verbose", panas_strategy="delta"),
        "omniscient, official": Settings(mode="omniscient", labels="official"),
        "compact, assess and reflect": Settings(prompts="compact", stages=("assess", "reflect")),
        "prefer": Settings(stages=("prefer",), seed=4),
        "draft": Settings(stages=("draft",)),
    }
    return {
        "composite": {about.conversation_id: in_full(about) for about in (one, two)},
        "skill": in_full(one, reward="skill"),
        "rewards": {
            name: [in_full(about, reward=spec)["total"] for about in sample()] for name, spec in specs.items()
        },
        "terminal": [step["reward"] for step in in_full(one, reward=custom)["steps"]],
        "settings": {name: in_full(two, settings) for name, settings in asked.items()},
        "specs": {name: describe_reward(spec) for name, spec in specs.items() if name != "long, terminal"},
        "specs again": {name: reward_from(describe_reward(SPECS[name])) == SPECS[name] for name in SPECS},
        "policies": {
            name: [rollout(about, policy).total for about in sample()]
            for name in BUILTIN
            for policy in [builtin_policy(name, sample())]
        },
        "scores": {
            about.conversation_id: scores_of(replay(task_of(about), replies(about))) for about in (one, two)
        },
    }


def _long(truth: object, turn: object, said: Any) -> float:
    return min(1.0, len(said.text) / 1000)


def task_of(about: Conversation, settings: Settings | None = None) -> Task:
    """What a harness carries."""
    return Task(about, settings or Settings(), default_spec())


def attacks() -> Json:
    """What attacks on rewards earn: returns of conversations, and scores with answers left out."""
    specs = {name: RewardSpec.preset(name) for name in ("composite", "skill")}
    prior: Any = builtin_policy("prior", sample())
    found: Json = {}
    for name, written in {**EXPLOITS, **SURFACE}.items():
        done = play(sample()[:3], ExploitPolicy(name, prior, written), Settings(), lambda _: specs)
        found[name] = {
            **done.totals, "canonical": done.canonical, "strict": done.strict, "read": [done.read, done.asked]
        }  # fmt: skip
    about = sample()[0]
    prediction, _ = read_record(rollout(about, builtin_policy("oracle", sample())).result, about)
    both = ("composite_exact", "composite_strict")
    silent = {what: score_conversation(about, leave(prediction)) for what, leave in UNANSWERED.items()}
    holed = {what: score_conversation(without(about, what), prediction) for what in UNANNOTATED}
    return {
        "exploits": found,
        "unanswered": {what: [scores[name] for name in both] for what, scores in silent.items()},
        "unannotated": {what: [scores[name] for name in both] for what, scores in holed.items()},
    }
