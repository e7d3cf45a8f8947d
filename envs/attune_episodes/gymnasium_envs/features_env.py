"""`Attune/Features-v0`: the benchmark's episodes as arrays, for work on algorithms and rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from attune_data.errors import UnknownNameError
from attune_episodes.gymnasium_envs.answer_space import Action, AnswerSpace, checked, legal_values
from attune_episodes.gymnasium_envs.features import NUMERIC_STAGES, WORDS, layout
from attune_episodes.gymnasium_envs.features_pool import Compiled, FeaturesPool, shown
from attune_episodes.request import Request
from attune_rewards.batched import COLUMNS
from attune_rewards.coded import WIDTH, coded, typed
from attune_rewards.predictions import PREDICTION_OF, Prediction, Stage
from attune_rewards.reward import NOT_SCORED, OK, Score
from attune_rewards.spec import RewardSpec

Observation = npt.NDArray[np.float32]


class FeaturesEnv(gymnasium.Env[Observation, Action]):
    """The benchmark's episodes as arrays of numbers.

    ## Description

    A person talked with an assistant about something that moves them, and afterwards said turn by turn what
    they felt, what each reply did and what they would rather have had. An episode is one such conversation; a
    step answers one request about it, in the order of the protocol: per turn `assess` (feelings; yes/no
    questions about the reply, twice: what it did, what was wanted), then `prefer` (which of two responses the
    person chose, in each comparison), at the end `reflect`. The texts are seen as hashed words and word-list
    cues. Answers never change what comes next: a contextual bandit with a fixed order of contexts.

    Nothing here reads language: a policy that does well has learnt cues. It is for work on algorithms and
    rewards; to evaluate a language model take `Attune/Conversation-v0`.

    ## Action Space

    `MultiDiscrete` of shape (139,), int8. **0 is no answer throughout**, fields that are not asked are
    ignored, so any sample is legal.

    | field | places | values | asked in |
    |---|---|---|---|
    | `emotions` | 20 PANAS items | 0 not felt; 1-7 intensity | assess |
    | `emotions_none` | 1 | 1 = nothing was felt (ignored where an emotion is given) | assess |
    | `observed`, `preferred` | 36 questions each | 1 no, 2 yes | assess |
    | `picks` | 12 comparisons, as numbered in the prompt | 1 = A, 2 = B, as shown | prefer |
    | `panas` | 20 items | 1-7 after the conversation | reflect |
    | `q1` | 7 options | 1 = looked for | reflect |
    | `q1_none` | 1 | 1 = looked for none of them | reflect |
    | `q2`, `q3` | 1 each | 1-4, the option | reflect |
    | `branches` | 4 | 1-7 | reflect |

    `attune_rewards.coded.LAYOUT` names the slices, `typed` and `coded` turn answers into predictions and
    back. `get_wrapper_attr("action_mask")()` is an int8 array (139, 8) of the values that count now;
    `action_space.sample(mask)` takes it. Comparisons beyond 12 stay unanswered.

    ## Observation Space

    `Box(-1, 1)` of shape (258 + 4 * `words`,), float32: (514,) by default. `features.layout(words)` names
    its parts: stage, turn, the questions asked, the comparisons (which response is A, which is B, about
    what), PANAS totals before, the message, the reply or the responses, and earlier messages. It shows what
    the request shows and nothing else; the numbers depend on the texts alone. After the last request it is
    all zeros.

    ## Rewards

    `weight * value` of the request, as `attune_rewards.reward.ScoredRequest` pays it: over an episode they
    sum to the strict total of the reward, at most 1. The follow-up of Q3 is a text and is not asked: its
    leaf takes no part and its weight goes to the parts beside it. So the total is a partial one
    (`total_name`, such as `composite_partial`) and **never stands beside a Composite**. Below 0 only under
    `skill`, which pays what a constant answer earns as 0. With `dense=False` the last step pays
    everything.

    ## Starting State

    The first request of the next conversation in the order of `sampling`.

    ## Episode Termination

    After the last request. Never truncated.

    ## Info

    At reset `conversation` (its index in the data) and `conversation_id`. At each step `scores`, the parts
    in the order of `attune_rewards.batched.COLUMNS`, in [0, 1], before nulls; `scored`, which of them are
    scored here (the others read 0 and mean nothing); `weight`, the request's share of the episode, 0 where
    nothing is scored; `conversation`.

    ## Arguments

    `gymnasium.make("attune_env:Attune/Features-v0", data="simulated", number=100, reward="skill")`. Those
    below, and those of `ConversationSource`: `level`, `world_seed`, `number`, `split`, `where`,
    `provenance`, `sampling`, `weights`, `shard`, `training`. The conversations must have an end:
    "simulated" needs `number`. `reset(options={"conversation_id": …})`, or `{"index": …}`, plays that
    conversation of the shard and leaves the order where it was.

    ## Vectorized

    `gymnasium.make_vec(…, num_envs=1024)` makes the native `FeaturesVectorEnv`, which plays the same
    episodes.

    ## Version History

    * v0: first version.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(
        self,
        data: Any = "sample",
        *,
        stages: Sequence[Stage] = NUMERIC_STAGES,
        reward: str | Mapping[str, Any] | RewardSpec = "composite",
        dense: bool | None = None,
        words: int = WORDS,
        labels_seed: int = 0,
        render_mode: str | None = None,
        **selection: Any,
    ) -> None:
        """Describes the episodes; texts are read when they are first played.

        Args:
            data: as `ConversationSource` takes it.
            stages: of assess, prefer and reflect.
            reward: a preset's name, a mapping of `attune_rewards.spec_files.reward_from`, or a RewardSpec.
            dense: pay each step, or (False) everything with the last one; None: as the reward has it.
            words: hash buckets a text, 0 to 65,536.
            labels_seed: of the labels and sides of responses (`Settings.seed`).
            render_mode: "ansi": `render()` gives a transcript; "human": each step is printed.
            **selection: further arguments of `ConversationSource`.

        Raises:
            SettingsError, UnknownNameError, DataError: what cannot be asked, paid or loaded, and the choices.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownNameError("render mode", str(render_mode), self.metadata["render_modes"])
        self.render_mode = render_mode
        self.pool = FeaturesPool(
            data, stages=stages, reward=reward, dense=dense, words=words, labels_seed=labels_seed, **selection
        )
        self.layout = layout(self.pool.buckets)
        """Part of an observation -> its slice."""
        self.observation_space = spaces.Box(-1.0, 1.0, (self.pool.width,), np.float32)
        self.action_space = AnswerSpace()
        self._order = self.pool.order()
        self._index = -1
        self._row = 0
        self._return = 0.0
        self._compiled: Compiled | None = None
        self._answered: list[FlatAnswer] = []
        """The steps so far, where they are to be rendered."""

    @property
    def total_name(self) -> str:
        """What the return of an episode is called; never a Composite."""
        return self.pool.spec.name

    @property
    def request(self) -> Request:
        """The request that waits for an answer, with its texts; ResetNeeded where none does."""
        return self._playing().requests[self._row]

    def _playing(self) -> Compiled:
        if self._compiled is None:
            raise ResetNeeded("the episode has not begun: call reset() before step()")
        if self._row >= len(self._compiled.requests):
            raise ResetNeeded("the episode is over: call reset() before the next step()")
        return self._compiled

    def asked(self) -> npt.NDArray[np.bool_]:
        """Which places of an action count now, shape (139,); none after the last request."""
        over = self._compiled is None or self._row >= len(self._compiled.requests)
        if self._compiled is None or over:
            return np.zeros(WIDTH, np.bool_)
        return np.array(self._compiled.asked[self._row])

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Which values count now, shape (139, 8): 1 where they do; only 0 where nothing is asked."""
        return legal_values(self.asked())

    def encode(self, prediction: Prediction) -> npt.NDArray[np.int8]:
        """The action that stands for a prediction of the current request's stage; else TypeError."""
        request = self.request
        if not isinstance(prediction, PREDICTION_OF[request.stage]):
            wanted = PREDICTION_OF[request.stage].__name__
            raise TypeError(f"stage {request.stage} takes {wanted}, got {type(prediction).__name__}")
        return coded(prediction, shown(request))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the next conversation.

        Args:
            seed: seeds the order and begins it anew.
            options: `{"conversation_id": …}` or `{"index": …}` plays that conversation.
        """
        wanted = self.pool.wanted(options)
        super().reset(seed=seed)
        if seed is not None:
            self._order.reset_order()
        if wanted is None:
            (wanted,) = self.pool.next_indices([self._order], [self.np_random])
        self._index = wanted
        self._conversation = self.pool.source.conversation(self._index)
        self._compiled = self.pool.compiled(self._conversation)
        self._row, self._return, self._answered = 0, 0.0, []
        if self.render_mode == "human":
            self._print(opening=True)
        info = {"conversation": self._index, "conversation_id": self._conversation.conversation_id}
        return self._compiled.observations[0].copy(), info

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Scores the answer to the current request and presents the next.

        Raises InvalidAction for what is no answer, ResetNeeded after the last request.
        """
        playing = self._playing()
        request = playing.requests[self._row]
        answer = checked(action, (WIDTH,))
        scored = self.pool.scored(self._conversation, request)
        scores, known, paid, weight = np.zeros(len(COLUMNS)), np.zeros(len(COLUMNS), np.bool_), 0.0, 0.0
        score = Score(None, NOT_SCORED)
        said = typed(request.stage, answer, request.questions, shown(request))
        if scored is not None:
            score = scored.score(said)
            paid, weight = score.reward, score.weight
            for name, value in score.parts.items():
                if name in _COLUMN:
                    scores[_COLUMN[name]], known[_COLUMN[name]] = value, True
        if self.render_mode is not None:
            self._answered.append(FlatAnswer(request, said, score))
            if self.render_mode == "human":
                self._print(opening=False)
        self._return += paid
        self._row += 1
        over = self._row == len(playing.requests)
        if not self.pool.spec.dense:
            paid = self._return if over else 0.0
        info = {"conversation": self._index, "scores": scores, "scored": known, "weight": weight}
        observation = (
            np.zeros(self.pool.width, np.float32) if over else playing.observations[self._row].copy()
        )
        return observation, float(paid), over, False, info

    def render(self) -> str | None:
        """The transcript so far with truth, prediction and reward (ansi); None in the other modes."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() does nothing: make it with render_mode="ansi" or "human"')
            return None
        if self._compiled is None:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode == "human":
            return None
        from attune_episodes.gymnasium_envs.render import transcript

        return transcript(self._conversation, self._answered)

    def _print(self, *, opening: bool) -> None:
        from attune_episodes.gymnasium_envs.render import show_opening, show_step

        if opening:
            show_opening(self._conversation)
        else:
            show_step(self._conversation, self._answered[-1:])


@dataclass(frozen=True, slots=True)
class FlatAnswer:
    """A step as transcripts show it."""

    request: Request
    outcome: Prediction
    score: Score
    status: str = OK


_COLUMN: Final = {name: i for i, name in enumerate(COLUMNS)}
