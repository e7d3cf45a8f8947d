"""`Attune/Conversation-v0`: an annotated conversation as a Gymnasium episode, for language models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Final

import gymnasium
from gymnasium.error import ResetNeeded

from attune_data.errors import SettingsError, UnknownNameError, check_flag, show
from attune_data.source.order import Order
from attune_data.source.source import Data, Mixed
from attune_episodes.frameworks.gymnasium.actions import Action, read_action
from attune_episodes.frameworks.gymnasium.presentation import (
    Observation,
    Presentation,
    action_mask,
    presentations,
)
from attune_episodes.frameworks.gymnasium.render import print_opening, print_steps, transcript
from attune_episodes.frameworks.gymnasium.spaces import action_space, observation_space
from attune_episodes.play.episode import Episode, Step
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Labels, Mode, PanasStrategy, Settings
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.predictions import Stage
from attune_rewards.reward.score import part_means
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.reward.spec_files import read_reward, reward_from

STEPS: Final = ("turn", "request")


class Lazy(Mapping[str, Any]):
    """A mapping that is computed on first access, since that takes longer than the whole episode.

    `dict(lazy)` is the plain value; pickles and copies contain that.
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make

    @cached_property
    def _value(self) -> Mapping[str, Any]:
        return self._make()

    def __getitem__(self, key: str) -> Any:
        return self._value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return repr(self._value)

    def __reduce__(self) -> tuple[type[Lazy], tuple[Callable[[], Mapping[str, Any]]]]:
        return Lazy, (partial(dict, self._value),)


class ConversationEnv(gymnasium.Env[dict[str, Any], Any]):
    """An annotated conversation as an episode whose reward is the benchmark's own score.

    A step presents a turn, and the action predicts all the person's answers about it: what they felt, what
    the assistant's reply did and which reply they would have liked best; the last step asks about the whole
    conversation (`reflect`). A model's own answers never become context, so an episode is fixed before it
    starts. With `step="request"`, a step is one request of the benchmark's protocol (docs/protocol.md).

    An action is a dict of answers (in which 0 or "" means no answer), a model's text, or typed predictions;
    the wrappers `JSONAction` and `TypedAction` have spaces for the last two. Fields that the step does not
    ask for are ignored, so any sample of `action_space` is legal; with the mask from `action_mask()`,
    `action_space.sample(mask=…)` answers everything that is asked.

    Each step earns its share of the total, so that an episode sums to the strict Composite / 100 (or another
    reward's value). With `dense=False`, the last step earns the whole total. Unreadable answers earn 0;
    questions without annotation are not scored and earn 0. Episodes terminate after the last step and are
    never truncated.

    docs/gymnasium.md describes every field of action, observation and info, and every argument.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's own declaration)
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(
        self,
        data: Data | Mixed = "sample",
        *,
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
        **selection: Any,
    ) -> None:
        """Make the environment; all arguments but objects can be written as JSON.

        `data` and `selection` (`sampling`, `shard`, `training`, `number`, `where`, …) choose
        conversations as in `Order.of` and `Source`; `stages` and `mode` to `prompts` are those of `Settings`
        (draft and assess_hp have no weight in the benchmark); `labels_seed` is its `seed`. Further arguments:

        * `step`: "turn" asks everything about a turn at once, and `reflect` last. This is not blind (the
          alternatives are visible while judging), so results are marked as not protocol-exact. "request"
          follows the protocol.
        * `reward`: a preset, a path (`attune_rewards.reward.spec_files.read_reward`), a description as JSON
          values (`reward_from`), or a RewardSpec.
        * `dense`: reward each step, or (False) only the last; None takes the reward's own setting.
        * `max_chars`: length of the text in the observation; a longer text loses its beginning, but `info`
          has it in full.
        * `em_model`: `provider/model`, for the record.
        * `render_mode`: with "ansi", `render()` returns a transcript; with "human", each step is printed.
        """
        if step not in STEPS:
            raise UnknownNameError("step", str(step), STEPS)
        if type(max_chars) is not int or max_chars < 1:
            raise SettingsError(f"max_chars is {show(max_chars)}; it must be a whole number, at least 1")
        known = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in known:
            # a TypeError: helpers that ask every environment for "rgb_array" take it for "does not draw"
            raise TypeError(
                f"render_mode is {show(render_mode)}; expected one of {', '.join(known)}, or None"
            )
        self.max_chars = max_chars
        self.render_mode = render_mode
        check_flag("dense", dense, optional=True)
        self.order = Order.of(data, **selection)
        """Which conversations are played, and in which order."""
        asked: Any = stages  # Settings validates and orders them
        self.settings = Settings(mode, asked, panas_strategy, labels, labels_seed, prompts)
        if not isinstance(reward, RewardSpec):
            reward = read_reward(reward) if isinstance(reward, str) else reward_from(reward)
        self.reward_spec = reward if dense is None else replace(reward, dense=dense)
        self.by_turn = step == "turn"
        self.em_model = em_model
        # one time stamp for the whole run, so that the same episode gives the same record
        self._facts: dict[str, Any] = {
            "run_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "source_file": None,
            "attune": {"protocol_exact": not self.by_turn},
        }
        hp = "assess_hp" in self.settings.stages
        self.action_space = self._structured_space = action_space(changes=panas_strategy != "absolute", hp=hp)
        self.observation_space = observation_space(max_chars)
        self.episode: Episode | None = None
        """The current episode; None before the first reset."""
        self._steps: tuple[Presentation, ...] = ()
        """The observation of each step, and of the end."""
        self._place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next conversation.

        Args:
            seed: seeds the order of conversations, which then starts again.
            options: `{"conversation_id": id}` or `{"index": i}` names the conversation; the order then
            continues as if it had not been played.

        Raises:
            UnknownNameError: no such option or conversation.
            SettingsError: a conversation in which the stages ask nothing.
        """
        # look up a named conversation first, so that an unknown name changes nothing
        asks = partial(plan, settings=self.settings)
        named = self.order.choose(options, asks) if options else None
        super().reset(seed=seed)
        if seed is not None:
            self.order.restart()
        conversation = named or self.order.choose(None, asks, lambda: self.order.next(self.np_random))
        self._steps = presentations(
            conversation, self.settings, by_turn=self.by_turn, max_chars=self.max_chars
        )
        self._place = 0
        self.episode = Episode(conversation, self.settings, self.reward_spec)
        if self.render_mode == "human":
            print_opening(conversation)
        return self._steps[0].observe(), {**self._steps[0].info, "pass": self.order.passes}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Score the action and advance.

        Raises ResetNeeded before the first reset and after the end; InvalidAction (naming the field) for
        anything that is not an action. A model's text is never invalid: if it cannot be read, it earns 0 and
        `info` says why.
        """
        episode = self.episode
        if episode is None or episode.done:
            when = "before the first step" if episode is None else "to begin the next episode"
            raise ResetNeeded(f"call reset() {when}")
        shown = self._steps[self._place]
        done = [episode.take(outcome, text) for outcome, text in read_action(shown.requests, action)]
        self._place += 1
        following, ended = self._steps[self._place], episode.done
        info = {**following.info, "pass": self.order.passes, "scored": shown.id, **_answered(done)}
        if ended:
            result = Lazy(partial(episode.result, self.em_model, self._facts))
            metrics = Lazy(lambda: score_conversation(episode.conversation, episode.prediction))
            info |= {"total": episode.total, "total_name": episode.total_name}
            info |= {"result": result, "metrics": metrics}
        if self.render_mode == "human":
            print_steps(episode.conversation, done)
        return following.observe(), math.fsum([step.reward for step in done]), ended, False, info

    def action_mask(self) -> dict[str, Any]:
        """A mask for `action_space.sample`: everything that is asked is answered, and all else stays 0."""
        if self.episode is None:
            raise ResetNeeded("call reset() before action_mask()")
        return action_mask(self._structured_space, self._steps[self._place].observation)

    def render(self) -> str | None:
        """Return the transcript so far, with truth and rewards, in mode ansi; None in other modes."""
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


def _answered(done: Sequence[Step]) -> dict[str, Any]:
    status = {step.request.stage: step.status for step in done}
    if len(done) == 1:
        score = done[0].score
        return {"parts": dict(score.parts), "value": score.value, "status": status}
    weight = sum(step.score.weight for step in done)
    value = sum(step.score.reward for step in done) / weight if weight else None
    return {"parts": part_means(step.score for step in done), "value": value, "status": status}
