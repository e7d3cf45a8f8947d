"""`Attune/Conversation-v0`: an annotated conversation as a Gymnasium episode, for language models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import gymnasium
from gymnasium.error import ResetNeeded

from attune_data.constants import Provenance
from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.simulate.levels import Level
from attune_episodes.data_arguments import check_flag
from attune_episodes.episode import Episode
from attune_episodes.gymnasium_envs.actions import Action, read_action
from attune_episodes.gymnasium_envs.outcome import answered, outcome
from attune_episodes.gymnasium_envs.presentation import (
    Observation,
    Presentation,
    action_mask,
    presentations,
)
from attune_episodes.gymnasium_envs.render import print_opening, print_steps, transcript
from attune_episodes.gymnasium_envs.spaces import action_space, observation_space
from attune_episodes.settings import Labels, Mode, PanasStrategy, Settings
from attune_episodes.source import ConversationSource, Sampling
from attune_rewards.predictions import Stage
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import read_reward, reward_from

STEPS: Final = ("turn", "request")
OPTIONS: Final = ("conversation_id", "index")
"""What `reset(options=…)` takes."""


class ConversationEnv(gymnasium.Env[Observation, Any]):
    """An annotated conversation as an episode, its reward the benchmark's own score.

    ## Description

    People said, turn by turn, what they felt, what the assistant's reply did and which reply they would have
    liked best; at the end, how they left the conversation. A step presents a turn, and the action predicts
    all the person's answers about it; the last step asks about the whole conversation (`reflect`). A model's
    own answers never return as context, so an episode is fixed before it starts. With `step="request"` a step
    is one request of the benchmark's protocol (docs/protocol.md).

    ## Action Space

    A `Dict` of 12 fields (14 with the stage assess_hp), one per answer, in which 0 or "" is no answer:
    `draft`, `emotions`, `none`, `observed`, `preferred`, `observed_hp`, `preferred_hp`, `picks`, `panas`,
    `q1`, `q2`, `q3`, `follow_up`, `branches`. Fields that the step does not ask for are not read, so any
    sample is legal. `action_mask()` gives a mask for `action_space.sample(mask=…)` under which all that is
    asked is answered. `step` also takes a model's text and typed predictions; the wrappers `JSONAction` and
    `TypedAction` have spaces for them.

    ## Observation Space

    A `Dict`: `messages` (the chat messages as one text), `turn` (from 1; 0 in reflect), and as bits the
    `stages`, the `fields` of the action, the yes/no `questions` and the `comparisons` that are asked.

    ## Rewards

    Each step pays its share of the total, so that an episode sums to the strict Composite / 100 (or another
    reward's value). With `dense=False` the last step pays it all. What cannot be read earns 0; what is not
    annotated is not scored and pays 0.

    ## Episode End

    Terminated after the last step. Never truncated.

    ## Information

    Always `conversation_id`, `pass` and `turn`; while something is asked `stages` and `request`; after a step
    `scored`, `parts`, `value` and `status`; at the end `total`, `total_name`, `result` and `metrics`.

    Every field, key and argument is described in docs/gymnasium.md.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's own declaration)
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(
        self,
        data: str | Path | Conversations = "sample",
        *,
        level: str | Level = "default",
        world_seed: int = 0,
        number: int | None = None,
        split: str | None = None,
        where: str | None = None,
        provenance: Provenance | None = None,
        sampling: Sampling = "shuffled",
        weights: Mapping[str, float] | None = None,
        shard: Sequence[int] | None = None,
        training: bool = False,
        stages: Sequence[Stage] = ("assess", "prefer", "reflect"),
        step: str = "turn",
        mode: Mode = "default",
        panas_strategy: PanasStrategy = "absolute",
        labels: Labels = "masked",
        labels_seed: int = 0,
        prompts: str = "full",
        reward: str | Mapping[str, Any] | RewardSpec = "composite",
        dense: bool | None = None,
        max_chars: int = 100_000,
        em_model: str = "unnamed/unnamed",
        render_mode: str | None = None,
    ) -> None:
        """Makes the environment; all arguments but objects can be written as JSON.

        `data` to `training` choose conversations as in `ConversationSource`; `stages` and `mode` to `prompts`
        are those of `Settings` (draft and assess_hp carry no reward of the benchmark's); `labels_seed` is its
        `seed`. Further:

        * `step`: "turn", all that a turn asks at once, reflect last. That is not blind (the alternatives are
          in sight while judging), so results are not protocol-exact, and say so. "request": the protocol's.
        * `reward`: a preset, a path (`attune_rewards.spec_files.read_reward`), a description as JSON values
          (`reward_from`), or a RewardSpec.
        * `dense`: pay each step, or (False) all with the last; None as the reward has it.
        * `max_chars`: of the text in the observation; a longer one loses its beginning, which `info` has.
        * `em_model`: `provider/model`, for the record.
        * `render_mode`: "ansi", `render()` gives a transcript; "human", each step is printed.
        """
        if step not in STEPS:
            raise UnknownNameError("step", str(step), STEPS)
        if type(max_chars) is not int or max_chars < 1:
            raise SettingsError(f"max_chars is {show(max_chars)}; it must be a whole number, at least 1")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            # a TypeError: helpers that ask every environment for "rgb_array" take it for "does not draw"
            known = ", ".join(self.metadata["render_modes"])
            raise TypeError(f"render_mode is {show(render_mode)}; expected one of {known}, or None")
        check_flag("dense", dense, optional=True)
        self.source = ConversationSource(
            data, level=level, world_seed=world_seed, number=number, split=split, where=where,
            provenance=provenance, sampling=sampling, weights=weights, shard=shard, training=training,
        )  # fmt: skip
        asked: Any = stages  # Settings checks them and puts them in order
        self.settings = Settings(mode, asked, panas_strategy, labels, labels_seed, prompts)
        self.reward_spec = _reward(reward, dense)
        self.by_turn = step == "turn"
        self.max_chars = max_chars
        self.render_mode = render_mode
        self.em_model = em_model
        # one for the whole run, so that the same episode gives the same record
        self._facts: dict[str, Any] = {
            "run_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "source_file": None,
            "attune": {"protocol_exact": not self.by_turn},
        }
        hp = "assess_hp" in self.settings.stages
        self.action_space = self._structured_space = action_space(changes=panas_strategy != "absolute", hp=hp)
        self.observation_space = observation_space(max_chars)
        self.episode: Episode | None = None
        """The episode that is played; None before the first reset."""
        self._steps: tuple[Presentation, ...] = ()
        """What is presented, step by step, and then the end."""
        self._place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the next conversation.

        Args:
            seed: of the order of conversations, which then starts over.
            options: `{"conversation_id": id}` or `{"index": i}` names the conversation; the order goes on
                after it as if it had not been played.

        Raises:
            UnknownNameError: no such option or conversation.
            SettingsError: a conversation that the stages ask nothing of.
        """
        named = self._named(options) if options else None  # before anything changes: there may be no such one
        super().reset(seed=seed)
        if seed is not None:
            self.source.reset_order()
        conversation, self._steps = named or self._next()
        self._place = 0
        self.episode = Episode(conversation, self.settings, self.reward_spec)
        if self.render_mode == "human":
            print_opening(conversation)
        return self._steps[0].observe(), {**self._steps[0].info, "pass": self.source.passes}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Scores the action and moves on.

        Raises ResetNeeded before the first reset and after the end; InvalidAction (naming the field) for what
        is no action. A model's text is never invalid: what cannot be read earns 0 and says why.
        """
        episode = self.episode
        if episode is None or episode.done:
            raise ResetNeeded(
                "call reset() before the first step"
                if episode is None
                else "the episode is over: call reset() to begin the next one"
            )
        shown = self._steps[self._place]
        done = [episode.take(outcome, text) for outcome, text in read_action(shown.requests, action)]
        self._place += 1
        following, ended = self._steps[self._place], episode.done
        info = following.info | {"pass": self.source.passes, "scored": shown.id} | answered(done)
        if ended:
            info |= outcome(episode, self.em_model, self._facts)
        if self.render_mode == "human":
            print_steps(episode.conversation, done)
        return following.observe(), math.fsum([step.reward for step in done]), ended, False, info

    def action_mask(self) -> dict[str, Any]:
        """A mask for `action_space.sample`: what is asked is answered, the rest stays 0."""
        if self.episode is None:
            raise ResetNeeded("call reset() before action_mask()")
        return action_mask(self._structured_space, self._steps[self._place].observation)

    def render(self) -> str | None:
        """The transcript so far with truth, prediction and reward (ansi); None in the other modes."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render() does nothing: make the environment with render_mode="ansi" or "human"'
            )
            return None
        if self.episode is None:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode == "human":
            return None
        return transcript(self.episode.conversation, self.episode.steps)

    # --- which conversation ---------------------------------------------------------------------------

    def _named(self, options: Mapping[str, Any]) -> tuple[Conversation, tuple[Presentation, ...]]:
        if not isinstance(options, Mapping):
            raise SettingsError(f"options is {show(options)}; expected a dict with {' or '.join(OPTIONS)}")
        for name in options:
            if name not in OPTIONS:
                raise UnknownNameError("reset option", str(name), OPTIONS)
        if len(options) > 1:
            raise SettingsError("options name one conversation: conversation_id or index, not both")
        name = options.get("conversation_id", "")
        if not isinstance(name, str):
            raise SettingsError(f"conversation_id is {show(name)}; it must be a text, such as 'sample-01'")
        if "index" in options:
            conversation = self.source.conversation(options["index"])
        else:
            conversation = self.source.by_id(name)
        steps = self._presented(conversation)
        if len(steps) == 1:
            raise self._nothing(repr(conversation.conversation_id))
        return conversation, steps

    def _next(self) -> tuple[Conversation, tuple[Presentation, ...]]:
        """The next conversation that has something to ask."""
        for _ in range(100 if self.source.endless else 2 * len(self.source)):
            conversation = self.source.next(self.np_random)
            if len(steps := self._presented(conversation)) > 1:
                return conversation, steps
        raise self._nothing(self.source.name)

    def _nothing(self, where: str) -> SettingsError:
        return SettingsError(
            f"stages {', '.join(self.settings.stages)} ask nothing of {where}: choose other stages"
        )

    def _presented(self, conversation: Conversation) -> tuple[Presentation, ...]:
        return presentations(conversation, self.settings, by_turn=self.by_turn, max_chars=self.max_chars)


def _reward(reward: str | Mapping[str, Any] | RewardSpec, dense: bool | None) -> RewardSpec:
    if isinstance(reward, RewardSpec):
        spec = reward
    else:
        spec = read_reward(reward) if isinstance(reward, str) else reward_from(reward)
    return spec if dense is None else replace(spec, dense=dense)
