"""What trainers and harnesses get for the replies of `traces`: rows, reward functions, metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attune_data import Conversation
from attune_env.lm_eval_tasks import scoring as lm_eval
from attune_episodes import (
    Settings,
    plan,
    score_row,
)
from attune_episodes.inspect_env import scoring as inspect
from attune_episodes.inspect_env.tasks import REPLIES
from attune_episodes.trainers import (
    conversation_rows,
    demonstrations,
    preference_pairs,
    reward_functions,
    row_reward,
    to_skyrl,
    to_verl,
    training_dataset,
)
from attune_episodes.trainers.conversations import GrowingChat
from attune_episodes.trainers.verl import compute_score
from attune_rewards import STAGES
from tests.frozen.keeping import digest
from tests.frozen.traces import replies, sample, step_of, task_of
from tests.trainers.batches import SPECS, called

Json = dict[str, Any]


# --- rows and trainers ---------------------------------------------------------------------------


def rows() -> Json:
    """Training rows, and what replies to them earn, in all forms that trainers take."""
    one, two = sample()[:2]
    made = {
        name: list(training_dataset([one, two], reward=SPECS[name]))
        for name in ("composite", "skill", "with format")
    }
    own = list(training_dataset("sample", reward="skill"))
    return {
        "rows": {name: {row["id"]: _row(row) for row in table} for name, table in made.items()},
        "compact": {
            row["id"]: _row(row)
            for row in training_dataset(
                [one], settings=Settings(prompts="compact", mode="verbose"), reward="composite"
            )
        },
        "scored": {name: _scored(table) for name, table in made.items()},
        "functions": {name: _functions(name, table) for name, table in made.items()},
        "training_dataset": {
            "columns": list(own[0]),
            "rows": len(own),
            "hash": digest([_row(row) for row in own]),
        },
        "simulated": [
            _row(row) for row in training_dataset("simulated", number=2, world_seed=5, prompts="compact")
        ],
        "demonstrations": _hashes(demonstrations([one, two])),
        "preference_pairs": _hashes(preference_pairs([one, two])),
        "to_verl": _hashes(to_verl(training_dataset([one], reward="composite"))),
        "verl": [compute_score("attune", _text(row), row["truth"]) for row in made["composite"]],
        "to_skyrl": _hashes(to_skyrl(training_dataset([one], reward="composite"))),
        "conversations_to_skyrl": _hashes(to_skyrl(conversation_rows([one, two]))),
        "growing chats": _growing_chats([one, two]),
    }


def _text(row: Mapping[str, Any]) -> str:
    about = sample().by_id[row["conversation_id"]]
    return replies(about)[row["id"]]


def _row(row: Mapping[str, Any]) -> Json:
    """Facts as they are; prompt and truth as hashes."""
    return {
        n: digest(v, 8) if n in ("prompt", "truth") else v
        for n, v in row.items()
        if n not in ("id", "conversation_id")
    }


def _scored(table: Iterable[Mapping[str, Any]]) -> list[Json]:
    found = []
    for row in table:
        earned = score_row(row, _text(row))
        found.append(step_of(row["id"], _text(row), earned.reason.replace("not_scored", "ok"), earned.reason,
                             earned.value, earned.reward, earned.weight, earned.parts))  # fmt: skip
    return found


def _functions(name: str, table: Sequence[Mapping[str, Any]]) -> Json:
    batch = called([dict(row) for row in table], [_text(row) for row in table])
    functions = reward_functions(SPECS[name], table)
    return {
        **{one.__name__: {"weight": one.weight, "values": one(**batch)} for one in functions},
        "row_reward": row_reward(**batch),
    }


def _hashes(table: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [
        {n: v if isinstance(v, (int, float)) or v is None else digest(v, 8) for n, v in row.items()}
        for row in table
    ]


def _growing_chats(conversations: Sequence[Conversation]) -> Json:
    found = {}
    for row in conversation_rows(conversations):
        chat = GrowingChat.of_row(row["task"])
        said = replies(chat.episode.conversation)
        rewards = []
        while not chat.done:
            rewards.append(chat.submit(said[chat.episode.request.id])[0])
        found[row["conversation_id"]] = {"row": digest(row), "rewards": rewards, "total": chat.episode.total}
    return found


# --- harnesses -----------------------------------------------------------------------------------


def harnesses() -> Json:
    """What the lm-eval and Inspect tasks report of the same replies; their own tests compare with this."""
    found: Json = {"lm_eval": {}, "inspect": {}}
    for stages in (STAGES, *((stage,) for stage in STAGES)):
        settings = Settings(stages=stages)
        names = lm_eval.OF_ALL if stages == STAGES else lm_eval.OF_STAGE[stages[0]]
        of_lm, of_inspect = {}, {}
        for about in sample()[:2]:
            said = {r.id: replies(about)[r.id] for r in plan(about, settings)}
            of_lm[about.conversation_id] = lm_eval.metrics_of(about, settings, list(said.values()), names)
            store = {REPLIES: {name: {"text": text} for name, text in said.items()}}
            told = inspect.score_replies(task_of(about, settings), store)
            of_inspect[about.conversation_id] = {
                "values": told["value"],
                "explanation": told["explanation"],
            }
        found["lm_eval"][" ".join(stages)] = of_lm
        found["inspect"][" ".join(stages)] = of_inspect
    return found
