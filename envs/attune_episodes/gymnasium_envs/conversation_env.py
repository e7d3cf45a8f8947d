"""`Attune/Conversation-v0`: an annotated conversation as a Gymnasium episode, for language models."""

from __future__ import annotations

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
from attune_episodes.gymnasium_envs.answers import read_text, read_typed
from attune_episodes.gymnasium_envs.codec import Kept
from attune_episodes.gymnasium_envs.outcome import Done, Lazy, Logged, done_of, metrics_of, result_of, told
from attune_episodes.gymnasium_envs.prepared import Asked, Prepared, Presented, action_mask, over, prepared
from attune_episodes.gymnasium_envs.spaces import action_space, observation_space
from attune_episodes.parsing import Unparsed
from attune_episodes.score import as_scored
from attune_episodes.settings import Labels, Mode, PanasStrategy, Settings
from attune_episodes.source import ConversationSource, Sampling
from attune_rewards.predictions import Prediction, Stage, TurnPrediction
from attune_rewards.reward import NOT_SCORED, OK, Score
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import read_reward, reward_from

STEPS: Final = ("request", "turn")
OPTIONS: Final = ("conversation_id", "index")
"""What `reset(options=…)` takes."""
Observation = dict[str, Any]
Action = Mapping[str, Any] | str | Prediction | TurnPrediction
"""A flat action, a model's text, or a typed prediction."""


class ConversationEnv(gymnasium.Env[Observation, Any]):
    """An annotated conversation as an episode, its reward the benchmark's own score.

    ## Description

    People told, turn by turn, what they felt, what the assistant's reply did and which reply they would have
    liked best; at the end, how they left the conversation. A step presents one request of the protocol
    (docs/protocol.md): what a model may see at that point, and what is asked. The action predicts the
    person's answers. A model's own answers never return as context, so the requests of an episode are fixed
    before it starts.

    ## Action Space

    A `Dict` of 12 fields (14 with the stage assess_hp), one an answer, 0 or "" meaning no answer throughout.
    Fields that the stage does not ask for are not read, so any sample is legal. `action_mask()` gives a
    mask for `action_space.sample(mask=…)` under which all that is asked is answered.

    | field | space | stage | meaning |
    |---|---|---|---|
    | `draft` | text | draft | a reply of one's own |
    | `emotions` | 20 × 0–7 | assess | intensity of each emotion, 0 absent |
    | `none` | 3 bits | assess, reflect | the answer is: no emotion, no goal, nothing felt off |
    | `observed`, `preferred` | 36 × 0–2 | assess | 1 no, 2 yes |
    | `observed_hp`, `preferred_hp` | 36 × 0–2 | assess_hp | the same |
    | `picks` | 12 × 0–2 | prefer | 1 A, 2 B, by the comparison's number in the prompt |
    | `panas` | 20 × 0–7, or 0–13 | reflect | items 1–7; where changes are asked, v means v - 7 |
    | `q1` | 7 bits | reflect | goals |
    | `q2`, `q3` | 0–4 | reflect | number of the option |
    | `follow_up` | text | reflect | what felt off, one item a line |
    | `branches` | 4 × 0–7 | reflect | the four branch scores |

    `step` also takes a model's text and typed predictions as they are; the wrappers `JSONAction` and
    `TypedAction` have the spaces for them.

    ## Observation Space

    | key | space | meaning |
    |---|---|---|
    | `messages` | text | the chat messages, the last `max_chars` characters |
    | `stage` | `Discrete(5)` | draft, assess, assess_hp, prefer, reflect |
    | `turn` | `Discrete(1001)` | from 1; 0 in reflect and after the end |
    | `fields` | 14 bits | which fields of the action count, in alphabetical order |
    | `questions` | 36 bits | which yes/no questions are asked |
    | `comparisons` | 12 bits | which comparisons are asked |

    After the last step the text is empty and all else is 0.

    ## Rewards

    Each step pays its share of the total, so that an episode sums to the reward's value in [0, 1] (`skill`:
    below 0 where the answers are worse than constants). With `dense=False` the last step pays it all. What
    cannot be read earns 0; what is not annotated is not scored and pays 0.

    ## Starting State

    The first request of the next conversation: in order, shuffled anew each pass, or drawn by weight. The
    same seed gives the same conversations. `options={"conversation_id": …}` or `{"index": …}` names one.

    ## Episode End

    Terminated after the last request. Never truncated.

    ## Information

    Always: `conversation_id`, `pass` (how often the data was gone through before), `turn`. While something is
    asked: `stage` and `request`, the structured request (by turn: `stages` and `requests`). After a step:
    `scored` (the id of what was scored), `parts` (part -> score), `value` (their weighted mean; None where
    nothing is scored), `reason` (`ok`, `unparsed:…`, `not_scored`), `status` (`ok` or `unparsed:…`). By turn
    `reason` and `status` map stages, and a part of several stages is their mean. At the end: `total`,
    `total_name`, `result` (the official record) and `metrics` (every metric), both mappings that are made
    when they are read: `dict(info["result"])`.

    ## Arguments

    Which conversations: `data`, `level`, `world_seed`, `number`, `split`, `where`, `provenance`; in which
    order: `sampling`, `weights`, `shard`; for training, refusing the benchmark: `training`. What is asked:
    `stages`, `step`, `mode`, `panas_strategy`, `labels`, `labels_seed`, `prompts`. What is paid: `reward`,
    `dense`. Also `max_chars`, `em_model`, `render_mode`. Each is explained at `__init__` and in
    docs/gymnasium.md.

    ## Version History

    * v0: first version.
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
        step: str = "request",
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

        Args:
            data: which conversations; this and the arguments up to `training` are those of
                `ConversationSource`.
            level: of a simulated world.
            world_seed: of a simulated world.
            number: only the first so many.
            split: of a dataset.
            where: conditions.
            provenance: the mark of records that carry none.
            sampling: "sequential", "shuffled" or "weighted".
            weights: conversation id -> weight.
            shard: (index, count).
            training: refuse benchmark records.
            stages: what is asked; draft and assess_hp carry no reward of the benchmark's.
            step: "request", the protocol's own; or "turn": all that a turn asks at once, reflect last. That
                is not blind (the alternatives are in sight while judging), so results say that they are not
                protocol-exact.
            mode: "default", "verbose", "omniscient" or "verbose_omniscient".
            panas_strategy: "absolute", "delta" or "blind_delta".
            labels: "masked" or "official".
            labels_seed: of the labels, sides and order of what is compared.
            prompts: "full", "compact", or a folder of templates.
            reward: a preset, a path (`attune_rewards.spec_files.read_reward`), a description as JSON values
                (`reward_from`), or a RewardSpec.
            dense: pay each step, or (False) all with the last; None as the reward has it.
            max_chars: of the text in the observation; a longer one loses its beginning, which `info` has.
            em_model: `provider/model`, for the record.
            render_mode: "ansi": `render()` gives a transcript; "human": each step is printed.
        """
        if step not in STEPS:
            raise UnknownNameError("step", str(step), STEPS)
        if type(max_chars) is not int or max_chars < 1:
            raise SettingsError(f"max_chars is {show(max_chars)}; it must be a whole number, at least 1")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownNameError("render mode", str(render_mode), self.metadata["render_modes"])
        self.source = ConversationSource(
            data, level=level, world_seed=world_seed, number=number, split=split, where=where,
            provenance=provenance, sampling=sampling, weights=weights, shard=shard, training=training,
        )  # fmt: skip
        check_flag("dense", dense, optional=True)
        asked: Any = stages if isinstance(stages, str) else tuple(stages)
        self.settings = Settings(mode, asked, panas_strategy, labels, labels_seed, prompts)
        self.reward_spec = _reward(reward, dense)
        self.by_turn = step == "turn"
        self.max_chars = max_chars
        self.render_mode = render_mode
        self._em_model = em_model
        # one for the whole run, so that the same episode gives the same record
        self._facts: dict[str, Any] = {
            "run_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "source_file": None,
            "attune": {"protocol_exact": not self.by_turn},
        }
        hp = "assess_hp" in self.settings.stages
        self.action_space = self._flat_space = action_space(changes=panas_strategy != "absolute", hp=hp)
        self.observation_space = observation_space(max_chars)
        self.conversation: Conversation | None = None
        """The conversation that is played; None before the first reset."""
        self._prepared: Prepared | None = None
        self._steps: tuple[Presented, ...] = ()
        self._place = 0
        self._total = 0.0
        self._pass = 0
        self._log: list[Done | Logged] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the next conversation.

        Args:
            seed: of the order of conversations, which then begins anew.
            options: `{"conversation_id": id}` or `{"index": i}` names the conversation; the order goes on
                after it as if it had not been played.

        Raises:
            UnknownNameError: no such option or conversation.
            SettingsError: a conversation that the stages ask nothing of.
        """
        named = self._named(options) if options else None  # before anything changes: it may not be there
        super().reset(seed=seed)
        if seed is not None:
            self.source.reset_order()
        self._begin(*(self._next() if named is None else named))
        shown = self._steps[0]
        self._print(opening=True)
        return _observation(shown), {**shown.info, "pass": self._pass}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Scores the action and moves on.

        Raises ResetNeeded before the first reset and after the end; InvalidAction (naming the field) for what
        is no action. A model's text is never invalid: what cannot be read earns 0 and says why.
        """
        place = self._place
        if place >= len(self._steps):
            raise ResetNeeded(
                "call reset() before the first step"
                if self._prepared is None
                else "the episode is over: call reset() to begin the next one"
            )
        shown = self._steps[place]
        quick = shown.quick
        if quick is not None and type(action) is dict:
            try:
                kept = shown.take(action)
            except (KeyError, AttributeError, TypeError, ValueError):
                kept = shown.asked[0].reader.take(action)
            parts, value, paid = quick(kept)
            self._log.append((shown.asked[0], kept, parts, value))
            info = shown.after.copy()
            info["parts"], info["value"], info["pass"] = parts.copy(), value, self._pass
            self._total += paid
        else:
            info, paid = self._score(shown, action)
        self._place = place = place + 1
        ended = place == len(self._steps)
        if ended:
            self._finish(info)
            observation = over()
        else:
            observation = _observation(self._steps[place])
        if not self.reward_spec.dense:
            paid = self._total if ended else 0.0
        if self.render_mode == "human":
            self._print(opening=False)
        return observation, paid, ended, False, info

    def action_mask(self) -> dict[str, Any]:
        """A mask for `action_space.sample`: what is asked is answered, the rest stays 0."""
        shown = self._steps[self._place] if self._place < len(self._steps) else None
        return action_mask(self._flat_space, shown)

    def render(self) -> str | None:
        """The transcript so far with truth, prediction and reward (ansi); None in the other modes."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render() does nothing: make the environment with render_mode="ansi" or "human"'
            )
            return None
        if self.conversation is None:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode == "human":
            return None
        from attune_episodes.gymnasium_envs.render import transcript

        return transcript(self.conversation, self.done)

    @property
    def done(self) -> list[Done]:
        """The requests answered so far, with what was said and what it earned."""
        return done_of(self._log)

    # --- the episode --------------------------------------------------------------------------------

    def _named(self, options: Mapping[str, Any]) -> tuple[Conversation, Prepared]:
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
        ready = self._prepare(conversation)
        if not ready.steps:
            raise SettingsError(
                f"stages {', '.join(self.settings.stages)} ask nothing of {conversation.conversation_id!r}"
            )
        return conversation, ready

    def _next(self) -> tuple[Conversation, Prepared]:
        """The next conversation that has something to ask."""
        tries = 100 if self.source.endless else 2 * len(self.source)
        for _ in range(tries):
            conversation = self.source.next(self.np_random)
            ready = self._prepare(conversation)
            if ready.steps:
                return conversation, ready
        raise SettingsError(
            f"stages {', '.join(self.settings.stages)} ask nothing of {self.source.name}: choose other stages"
        )

    def _prepare(self, conversation: Conversation) -> Prepared:
        return prepared(
            conversation, self.settings, self.reward_spec, by_turn=self.by_turn, max_chars=self.max_chars
        )

    def _begin(self, conversation: Conversation, ready: Prepared) -> None:
        self.conversation, self._prepared, self._steps = conversation, ready, ready.steps
        self._place, self._total, self._log = 0, 0.0, []
        self._pass = self.source.passes

    def _score(self, shown: Presented, action: Action) -> tuple[dict[str, Any], float]:
        """Scores what the quick way does not: several requests, texts, predictions, what has no weight."""
        if isinstance(action, Mapping):
            kept = [one.reader.take(action) for one in shown.asked]
            done = [self._flat(one, what) for one, what in zip(shown.asked, kept, strict=True)]
        else:
            asked = shown.asked
            answers = read_text(asked, action) if isinstance(action, str) else read_typed(asked, action)
            done = [self._said(one, *said) for one, said in zip(shown.asked, answers, strict=True)]
        paid = 0.0
        for one in done:
            paid += one.score.reward
            self._total += one.score.reward
        self._log += done
        return {**shown.after, "pass": self._pass, **told(done, by_turn=self.by_turn)}, paid

    def _flat(self, one: Asked, kept: Kept) -> Done:
        if one.quick is None or one.scored is None:
            return self._said(one, one.reader.typed(kept), None)
        parts, value, _ = one.quick(kept)
        return Done(one, Score(value, OK, parts, one.scored.weight), kept=kept)

    def _said(self, one: Asked, outcome: Prediction | Unparsed, text: str | None) -> Done:
        assert self._prepared is not None
        said, reason = as_scored(one.request, outcome, self._prepared.truth)
        score = Score(None, NOT_SCORED, {}) if one.scored is None else one.scored.score(said, reason)
        return Done(one, score, outcome=outcome, text=text)

    def _finish(self, info: dict[str, Any]) -> None:
        conversation, settings, spec = self.conversation, self.settings, self.reward_spec
        assert conversation is not None
        assert self._prepared is not None
        log, em_model, facts = self._log, self._em_model, self._facts
        result = Lazy(lambda: result_of(conversation, settings, spec, done_of(log), em_model, facts))
        info["total"], info["total_name"] = self._total, self._prepared.total_name
        info["result"], info["metrics"] = result, Lazy(lambda: metrics_of(conversation, result))

    def _print(self, *, opening: bool) -> None:
        if self.render_mode == "human" and self.conversation is not None:
            from attune_episodes.gymnasium_envs.render import show_opening, show_step

            if opening:
                show_opening(self.conversation)
            else:
                asked = self._steps[self._place - 1].asked
                show_step(self.conversation, done_of(self._log[-len(asked) :]))


def _reward(reward: str | Mapping[str, Any] | RewardSpec, dense: bool | None) -> RewardSpec:
    if isinstance(reward, RewardSpec):
        spec = reward
    elif isinstance(reward, str):
        spec = read_reward(reward)
    else:
        spec = reward_from(reward)
    return spec if dense is None or dense is spec.dense else replace(spec, dense=dense)


def _observation(shown: Presented) -> Observation:
    return {
        "messages": shown.text,
        "stage": shown.stage,
        "turn": shown.turn,
        "fields": shown.fields.copy(),
        "questions": shown.questions.copy(),
        "comparisons": shown.comparisons.copy(),
    }
