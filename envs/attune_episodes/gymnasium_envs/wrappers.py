"""`JSONAction` and `TypedAction`: a model's text, or prediction objects, as the action."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
from gymnasium.error import InvalidAction
from gymnasium.utils import RecordConstructorArgs

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.errors import SettingsError, show
from attune_episodes.answers import PANAS_CHANGE, PANAS_ITEMS
from attune_episodes.gymnasium_envs.conversation_env import ConversationEnv
from attune_episodes.gymnasium_envs.spaces import CHANGES, TextSpace, action_space
from attune_rewards.predictions import STAGES, Assess, AssessHP, Draft, Prefer, Reflect, TurnPrediction

MAX_REPLY = 1_000_000
"""Longest reply that the action space names; what `parse` reads is shorter."""
_PREDICTIONS = (Draft, Assess, AssessHP, Prefer, Reflect, TurnPrediction)
_YES_NO = (None, "no", "yes")


class JSONSpace(TextSpace):
    """A model's replies: any text. Samples are JSON objects that answer whatever stage they meet."""

    def __init__(self, *, changes: bool = False, hp: bool = False, by_turn: bool = False, seed: Any = None):
        """Describes the replies.

        Args:
            changes: PANAS changes are asked rather than items.
            hp: assess_hp is asked.
            by_turn: samples also answer each stage under its name.
            seed: of samples.
        """
        self.changes, self.by_turn = changes, by_turn
        self.flat = action_space(changes=changes, hp=hp)
        super().__init__(MAX_REPLY, seed=seed)

    def seed(self, seed: Any = None) -> Any:
        """Seeds the samples."""
        self.flat.seed(seed)
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A JSON object with a random answer in every field.

        Args:
            mask: of the flat action space, as `action_mask()` gives it.
            probability: as the flat action space takes it.
        """
        said = _written(self.flat.sample(mask=mask, probability=probability), changes=self.changes)
        if self.by_turn:
            said |= {stage: dict(said) for stage in STAGES if stage != "draft"}
        return json.dumps(said)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, JSONSpace)
            and super().__eq__(other)
            and (self.by_turn, self.flat) == (other.by_turn, other.flat)
        )

    __hash__ = None


class TypedSpace(JSONSpace):
    """Prediction objects of `attune_rewards.predictions`, or texts. Samples are texts."""

    def contains(self, x: Any) -> bool:
        """Whether it is a prediction or a text."""
        return isinstance(x, _PREDICTIONS) or super().contains(x)


class _Replies(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """What both wrappers do: replace the action space."""

    def __init__(self, env: gymnasium.Env[Any, Any], space: type[JSONSpace]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        inner = env.unwrapped
        if not isinstance(inner, ConversationEnv):
            raise SettingsError(
                f"{type(self).__name__} wraps Attune/Conversation-v0, found {type(inner).__name__}"
            )
        self.action_space = space(
            changes=inner.settings.panas_strategy != "absolute",
            hp="assess_hp" in inner.settings.stages,
            by_turn=inner.by_turn,
        )


class JSONAction(_Replies):
    """Takes a model's raw text as the action.

    The text is read as everywhere in attune-env: JSON alone, in a fence or amid prose. What cannot be read
    earns 0 with its reason in `info["reason"]`. With `step="turn"` one object holds one object a stage.

    >>> import gymnasium
    >>> env = JSONAction(gymnasium.make("attune_env:Attune/Conversation-v0", data="sample"))
    >>> _ = env.reset(seed=1)
    >>> _, reward, _, _, info = env.step("I would rather not say.")
    >>> reward, info["reason"]
    (0.0, 'unparsed:no_json')
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wraps Attune/Conversation-v0, other wrappers between them or not."""
        super().__init__(env, JSONSpace)

    def action(self, action: Any) -> str:
        """The text itself; InvalidAction for anything else."""
        if not isinstance(action, str):
            raise InvalidAction(f"the action is {show(action)} ({type(action).__name__}); expected a text")
        return action


class TypedAction(_Replies):
    """Takes a prediction of the stage (`attune_rewards.predictions`) or a text as the action.

    With `step="turn"` the prediction of a turn is a `TurnPrediction`, in which None is no answer.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wraps Attune/Conversation-v0, other wrappers between them or not."""
        super().__init__(env, TypedSpace)

    def action(self, action: Any) -> Any:
        """The prediction itself; InvalidAction for what is neither a prediction nor a text."""
        if not isinstance(action, (str, *_PREDICTIONS)):
            names = ", ".join(kind.__name__ for kind in _PREDICTIONS)
            raise InvalidAction(
                f"the action is {show(action)} ({type(action).__name__}); expected one of {names}, or a text"
            )
        return action


def _written(flat: dict[str, Any], *, changes: bool) -> dict[str, Any]:
    """A flat action as the fields of every stage's JSON."""
    scale = flat["panas"] - (CHANGES + 1) // 2 if changes else flat["panas"]
    panas = {n: int(v) for n, v, on in zip(EMOTIONS, scale, flat["panas"], strict=True) if on}
    said: dict[str, Any] = {
        "draft": flat["draft"],
        "emotions": [
            {"emotion": name, "intensity": int(v)}
            for name, v in zip(EMOTIONS, flat["emotions"], strict=True)
            if v
        ],
        "observed": {q: _YES_NO[v] for q, v in zip(BINARY_IDS, flat["observed"], strict=True) if v},
        "preferred": {q: _YES_NO[v] for q, v in zip(BINARY_IDS, flat["preferred"], strict=True) if v},
        "picks": {str(i): "AB"[v - 1] for i, v in enumerate(flat["picks"], 1) if v},
        PANAS_CHANGE if changes else PANAS_ITEMS: panas,
        "q1_lookingFor": [option for option, v in zip(Q1_OPTIONS, flat["q1"], strict=True) if v],
        "q3_followUp_whatFeltOff": [line for line in flat["follow_up"].split("\n") if line],
        "fourBranchScores": {n: int(v) for n, v in zip(BRANCHES, flat["branches"], strict=True) if v},
    }
    if flat["q2"]:
        said["q2_emotionClarity"] = Q2_OPTIONS[flat["q2"] - 1]
    if flat["q3"]:
        said["q3_modelFit"] = Q3_OPTIONS[flat["q3"] - 1]
    return said
