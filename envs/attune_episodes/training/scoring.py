"""`score_row`: score a model's reply from the row alone. Every trainer's reward function calls this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.chat.message import text_of as content_text
from attune_episodes.parsing import parse
from attune_episodes.play.score import as_scored, reward_spec
from attune_episodes.protocol.request import Request
from attune_episodes.training.truth import own_parts, read_truth
from attune_rewards.metrics.leaf import Part
from attune_rewards.reward.score import Score, ScoredRequest
from attune_rewards.reward.spec import RewardSpec

Shares = Mapping[str, tuple[float, float]]
"""Part -> (its share of the row's reward, its baseline). The shares sum to 1."""
TRUTHS: Final = 1024
"""Number of cached truths, so that each is parsed only once for a group of replies to one prompt."""


def score_row(row: Mapping[str, Any], reply: object, *, spec: RewardSpec | str | None = None) -> Score:
    """Score a reply to the prompt of a row, exactly as an `Episode` would.

    Args:
        row: a row of `training_dataset`, or any mapping with its `truth`.
        reply: the model's text, or chat messages, of which the assistant's last one counts; None is an empty
            text.
        spec: the reward with which the row was made, or what `read_reward` reads (once a process); needed
            only if it has parts of your own.

    Returns:
        The score: `value` in [0, 1] (below 0 if the reward is measured from baselines), `reason`, `parts`,
        and the row's `weight`. `value` is never None: a request that no part scores has no row.

    Raises DataError for a row without a truth, or with one of another scoring version; SettingsError for one
    with a part that `spec` does not have; TypeError for something that is not a row and for a reply of the
    wrong type. No text of a model raises an error; your own parts may raise PartError.
    """
    if not isinstance(row, Mapping):
        raise TypeError(f"a row is a mapping with its truth, got {show(row)} ({type(row).__name__})")
    return score_truth(row.get("truth"), reply, own_parts_of(spec))


def own_parts_of(spec: RewardSpec | str | None) -> tuple[Part, ...]:
    """The parts of a reward that only its author's code can score; a name is read once a process."""
    if spec is None:
        return ()
    return _parts_named(spec) if isinstance(spec, str) else own_parts(reward_spec(spec))


@cache
def _parts_named(source: str) -> tuple[Part, ...]:
    return own_parts(reward_spec(source))


def score_truth(truth: object, reply: object, own: tuple[Part, ...] = ()) -> Score:
    """Score a reply given the column `truth`, as trainers pass it, and the parts of `own_parts_of`."""
    request, scored, _ = _read(checked_truth(truth), own)
    said, reason = as_scored(request, parse(request, "" if reply is None else text_of(reply)), scored)
    return scored.score(said, reason)


def checked_truth(truth: object) -> str:
    """Return the truth; raises DataError if it is not a text."""
    if isinstance(truth, str):
        return truth
    found = "none" if truth is None else show(truth)
    raise DataError(
        Problem("row", "truth", found, "the JSON text that training_dataset wrote", "keep that column")
    )


def shares_of(truth: str, own: tuple[Part, ...] = ()) -> Shares:
    """The parts of a row: Σ share · (score - baseline)/(1 - baseline) is the value of its score."""
    return _read(truth, own)[2]


@lru_cache(maxsize=TRUTHS)
def _read(truth: str, own: tuple[Part, ...]) -> tuple[Request, ScoredRequest, Shares]:
    request, scored = read_truth(truth, own)
    shares = {name: (weight / scored.weight, baseline) for name, weight, baseline in scored.parts}
    return request, scored, MappingProxyType(shares)


def text_of(completion: object) -> str:
    """The text of a completion: a text, a chat message, or messages, of which the assistant's last counts.

    A message's content is a text or a list of parts, whose texts are concatenated. "" if there is no
    assistant message, no content, or content of another type. Raises TypeError for anything but a text or
    messages, which is an error of the trainer and not of the model.
    """
    if isinstance(completion, str):
        return completion
    messages = (completion,) if isinstance(completion, Mapping) else completion
    if isinstance(messages, Sequence) and not isinstance(messages, (bytes, bytearray)):
        for message in reversed(messages):
            if not isinstance(message, Mapping) or "role" not in message:
                break
            if message["role"] == "assistant":
                return content_text(message.get("content"))
        else:
            return ""
    raise TypeError(
        f"a completion is {show(completion)} ({type(completion).__name__}); expected a text, or a list of "
        'chat messages such as [{"role": "assistant", "content": "…"}]'
    )
