"""What trainers and harnesses get for the replies of `traces`: rows, reward functions, metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attune_episodes import Settings, plan, score_row, training
from attune_episodes.frameworks.inspect import scores as inspect
from attune_episodes.frameworks.inspect.tasks import REPLIES
from attune_episodes.frameworks.lm_eval import scores as lm_eval
from attune_episodes.frameworks.verl import compute_score
from attune_episodes.training import training_dataset
from attune_rewards import STAGES
from tests.frozen.keeping import digest
from tests.frozen.traces import replies, sample, step_of, task_of
from tests.training.batches import SPECS, called

Json = dict[str, Any]
REWARDS = ("composite", "skill", "with format")


# --- rows and trainers ---------------------------------------------------------------------------


def rows() -> Json:
    """Training rows, and what replies to them earn, in all forms that trainers take."""
    both = sample()[:2]
    one = training_dataset(both[:1], reward="composite")
    made = {name: list(training_dataset(both, reward=SPECS[name])) for name in REWARDS}
    own = list(training_dataset("sample", reward="skill"))
    settings = Settings(prompts="compact", mode="verbose")
    compact = training_dataset(both[:1], settings=settings, reward="composite")
    written = training_dataset(number=2, prompts="compact")
    return {
        "rows": {name: {row["id"]: _row(row) for row in table} for name, table in made.items()},
        "compact": {row["id"]: _row(row) for row in compact},
        "scored": {name: [_scored(row) for row in table] for name, table in made.items()},
        "functions": {name: _functions(name, table) for name, table in made.items()},
        "training_dataset": {"columns": list(own[0]), "rows": len(own), "hash": digest([*map(_row, own)])},
        "written": [_row(row) for row in written],
        "demonstrations": _hashes(training.demonstrations(both)),
        "preference_pairs": _hashes(training.preference_pairs(both)),
        "to_verl": _hashes(training.to_verl(one)),
        "verl": [compute_score("attune", _text(row), row["truth"]) for row in made["composite"]],
        "to_skyrl": _hashes(training.to_skyrl(one)),
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


def _scored(row: Mapping[str, Any]) -> Json:
    earned = score_row(row, _text(row))
    return step_of(row["id"], _text(row), earned.reason.replace("not_scored", "ok"), earned.reward, earned)


def _functions(name: str, table: Sequence[Mapping[str, Any]]) -> Json:
    batch = called([dict(row) for row in table], [_text(row) for row in table])
    functions = training.reward_functions(SPECS[name], table)
    return {
        **{one.__name__: {"weight": one.weight, "values": one(**batch)} for one in functions},
        "row_reward": training.row_reward(**batch),
    }


def _hashes(table: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [
        {n: v if isinstance(v, (int, float)) or v is None else digest(v, 8) for n, v in row.items()}
        for row in table
    ]


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
            of_lm[about.conversation_id] = lm_eval.score_replies(about, settings, list(said.values()), names)
            store = {REPLIES: {name: {"text": text} for name, text in said.items()}}
            told = inspect.score_replies(task_of(about, settings), store)
            of_inspect[about.conversation_id] = {
                "values": told["value"],
                "explanation": told["explanation"],
            }
        found["lm_eval"][" ".join(stages)] = of_lm
        found["inspect"][" ".join(stages)] = of_inspect
    return found
