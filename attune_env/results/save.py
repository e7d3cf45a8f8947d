"""From rollouts of one's own policy to result files that `attune score` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attune_env.results.files import result_name, write_json
from attune_episodes.rollout import Rollout


def save_results(rollouts: Iterable[Rollout], folder: str | Path) -> list[Path]:
    """Writes one official result file a rollout into `folder` (made if needed); returns their paths.

    The model's name in them is the `em_model` given to `rollout` or `rollout_batch`. A file of the same
    conversation, model and mode is replaced. Score them with `attune score --results FOLDER …`.
    """
    paths = []
    for played in rollouts:
        record = played.result
        name = result_name(record["conversationId"], record["em_model"], record["mode"])
        paths.append(Path(folder) / name)
        write_json(paths[-1], record)
    return paths
