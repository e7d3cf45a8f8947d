"""From rollouts of one's own policy to result files that `attune score` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attune_env.results.files import check_same_result, result_name, write_result
from attune_episodes.rollout import Rollout


def save_results(rollouts: Iterable[Rollout], folder: str | Path) -> list[Path]:
    """Writes one official result file a rollout into `folder` (made if needed); returns their paths.

    The model's name in them is the `em_model` given to `rollout` or `rollout_batch`. A file of the same
    conversation, model and mode is replaced; one of others that only has the same name stops with a
    DataError. Score them with `attune score --results FOLDER …`.
    """
    paths = []
    for played in rollouts:
        record = played.result
        identity = (record["conversationId"], record["em_model"], record["mode"])
        path = Path(folder) / result_name(*identity)
        check_same_result(path, *identity)
        write_result(path, record)
        paths.append(path)
    return paths
