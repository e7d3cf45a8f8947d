"""The native vector environment of `Attune/Features-v0`: many episodes in one NumPy pass a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_episodes.gymnasium_envs.answer_space import AnswerSpace, checked, legal_values
from attune_episodes.gymnasium_envs.features import NUMERIC_STAGES, WORDS, layout
from attune_episodes.gymnasium_envs.features_pool import FeaturesPool, shown
from attune_rewards.batched import BatchedScorer, Place
from attune_rewards.coded import WIDTH
from attune_rewards.predictions import Stage
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import truth_of

Observations = npt.NDArray[np.float32]
Vector = npt.NDArray[Any]
Info = dict[str, Any]

_MODES: Final = tuple(mode.value for mode in AutoresetMode)


class FeaturesVectorEnv(VectorEnv[Observations, Vector, Vector]):
    """`FeaturesEnv` many times over, natively in NumPy.

    ## Description

    `num_envs` episodes at once; see `FeaturesEnv` for observations, actions, rewards and arguments, to which
    `num_envs` and `autoreset_mode` come. All conversations are read and compiled when it is made (about 25 ms
    each; simulated ones are made first). With the same seeds it plays the episodes of as many single
    environments and pays their rewards, to 1e-9.

    ## Action Space

    `batch_space` of the single one: integers of shape (num_envs, 139), 0 = no answer throughout.

    ## Observation Space

    `batch_space` of the single one: float32 of shape (num_envs, 258 + 4 * `words`), a new array each time.

    ## Rewards

    As `FeaturesEnv` pays them, shape (num_envs,), float64. Parts of a reward that are functions of one's own
    cannot be scored in batches: SettingsError.

    ## Starting State

    `reset(seed=s)` seeds environment i with s + i; a list seeds each (None: by chance).
    `options={"reset_mask": …}` (bool, shape (num_envs,)) resets those only; `{"conversation_id": …}` or
    `{"index": …}` plays one conversation in each that is reset.

    ## Episode Termination

    After the last request; never truncated. `autoreset_mode`, by value or name of Gymnasium's
    `AutoresetMode`:

    * `NextStep` (default): the step after the last ignores the action, pays 0 and presents a new episode.
    * `SameStep`: the last step presents the new episode; the last observation and its info are in
      `infos["final_obs"]` and `infos["final_info"]`.
    * `Disabled`: environments that are over must be reset with `reset_mask` before the next step.

    ## Info

    That of `FeaturesEnv`, each key an array of num_envs rows with a mask `_key` of the rows that hold one.

    ## Memory

    Per conversation about 32 kB at 64 buckets (twelve requests of 514 float32, and the truths), besides the
    conversation itself; `nbytes` says how much it is. Nothing grows while it steps.

    ## Version History

    * v0: first version.
    """

    def __init__(
        self,
        num_envs: int = 1,
        data: Any = "sample",
        *,
        stages: Sequence[Stage] = NUMERIC_STAGES,
        reward: str | Mapping[str, Any] | RewardSpec = "composite",
        dense: bool | None = None,
        words: int = WORDS,
        labels_seed: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **selection: Any,
    ) -> None:
        """Reads and compiles the conversations.

        Args:
            num_envs: how many episodes at once, at least 1.
            data: as `ConversationSource` takes it.
            stages: of assess, prefer and reflect.
            reward: as `FeaturesEnv` takes it, but for parts that are functions of one's own.
            dense: pay each step, or (False) everything with the last one; None: as the reward has it.
            words: hash buckets a text, 0 to 65,536.
            labels_seed: of the labels and sides of responses.
            autoreset_mode: what comes after the last request.
            render_mode: None; there is nothing to draw.
            **selection: further arguments of `ConversationSource`.

        Raises:
            SettingsError, UnknownNameError, DataError: as `FeaturesEnv` does.
        """
        if type(num_envs) is not int or num_envs < 1:
            raise SettingsError(f"num_envs is {show(num_envs)}; it must be a whole number, at least 1")
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; this environment draws nothing, so it is None")
        self.num_envs = num_envs
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.pool = FeaturesPool(
            data, stages=stages, reward=reward, dense=dense, words=words, labels_seed=labels_seed, **selection
        )
        self.layout = layout(self.pool.buckets)
        """Part of an observation -> its slice."""
        self.single_observation_space = spaces.Box(-1.0, 1.0, (self.pool.width,), np.float32)
        self.single_action_space = AnswerSpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._compile()
        self._orders = [self.pool.order() for _ in range(num_envs)]
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int | None] = [None] * num_envs
        self._conversation = np.full(num_envs, -1)
        """Index of the conversation that each plays; -1 before the first reset."""
        self._row = np.full(num_envs, self._nowhere)
        """Row of the request that waits in each; `_nowhere` where the episode is over."""
        self._end = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs)

    def _compile(self) -> None:
        """Lays all requests of the pool out as rows, and one row more for where an episode is over."""
        total = len(self.pool.source.conversations)
        self._first, self._last = np.zeros(total, np.int64), np.zeros(total, np.int64)
        """Conversation -> its rows, from first to before last."""
        self._names = np.full(total, None, dtype=object)
        places: list[Place] = []
        observations, counted = [], []
        for index in self.pool.indices:
            # a copy goes without what is kept beside a conversation: all of it is in the arrays
            conversation = copy(self.pool.source.conversation(index))
            compiled, truth = self.pool.compiled(conversation), truth_of(conversation)
            self._first[index], self._names[index] = len(places), conversation.conversation_id
            for request in compiled.requests:
                turn = None if request.turn is None else truth.turn(request.turn)
                scored = self.pool.scored(conversation, request)
                places.append(Place(request.stage, truth, turn, scored, shown(request)))
            self._last[index] = len(places)
            observations.append(compiled.observations)
            counted.append(compiled.asked)
        self._nowhere = len(places)
        """The row on which nothing is shown, asked or paid."""
        self._table = np.concatenate([*observations, np.zeros((1, self.pool.width), np.float32)])
        self._asked = np.concatenate([*counted, np.zeros((1, WIDTH), np.bool_)])
        self._scorer = BatchedScorer(places)
        self._weights = self._scorer.weights

    @property
    def nbytes(self) -> int:
        """Memory of the compiled conversations, in bytes."""
        return self._table.nbytes + self._asked.nbytes + self._scorer.nbytes

    @property
    def total_name(self) -> str:
        """What the return of an episode is called; never a Composite."""
        return self.pool.spec.name

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators, one an environment."""
        return tuple(self._generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seeds, one an environment."""
        return tuple(self._seeds)

    def asked(self) -> npt.NDArray[np.bool_]:
        """Which places of the actions count now, shape (num_envs, 139)."""
        return np.asarray(self._asked[self._row])

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Which values count now, shape (num_envs, 139, 8); only 0 where nothing is asked."""
        return legal_values(self.asked())

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Info]:
        """Begins new episodes.

        Args:
            seed: of the first environment, the others counting on from it; or one each.
            options: `reset_mask`, and `conversation_id` or `index`, see above.
        """
        wanted = dict(options or {})
        mask = _reset_mask(wanted.pop("reset_mask", None), self.num_envs)
        index = self.pool.wanted(wanted)
        seeds = self._listed(seed)
        again = [i for i in np.flatnonzero(mask).tolist() if seeds[i] is not None]
        made = {i: seeding.np_random(seeds[i]) for i in again}  # a seed that is none stops before any change
        for i, (generator, drawn) in made.items():
            self._generators[i], self._seeds[i] = generator, drawn
            self._orders[i].reset_order()
        self._begin(mask, index)
        infos: Info = {}
        self._announce(infos, mask)
        return self._observe(), infos

    def _observe(self) -> Observations:
        return self._table.take(self._row, axis=0, mode="clip")  # rows are in range: clipping is only quicker

    def _listed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments; one each, or one number")
        return list(seed)

    def _generator(self, i: int) -> np.random.Generator:
        known = self._generators[i]
        if known is None:
            known, self._seeds[i] = seeding.np_random()
            self._generators[i] = known
        return known

    def _begin(self, begun: npt.NDArray[np.bool_], index: int | None = None) -> None:
        """Puts environments at the first request of a conversation: that one, or the next of each."""
        if index is None:
            those = np.flatnonzero(begun).tolist()
            generators = [self._generators[i] or self._generator(i) for i in those]
            chosen: Any = self.pool.next_indices([self._orders[i] for i in those], generators)
        else:
            chosen = index
        self._conversation[begun] = chosen
        self._row[begun], self._end[begun] = self._first[chosen], self._last[chosen]
        self._returns[begun] = 0.0

    def step(self, actions: Vector) -> tuple[Observations, Vector, Vector, Vector, Info]:
        """Scores one answer in each environment and presents what comes next.

        Args:
            actions: whole numbers, shape (num_envs, 139).

        Returns:
            Observations, rewards, terminations, truncations (all False) and infos.

        Raises InvalidAction for what is no answer; ResetNeeded before the first reset and, where resets are
        disabled, after an episode's end.
        """
        over = self._row == self._nowhere
        if over.any():
            self._need_no_reset(over)
        rewards, scores, scored = self._scorer.score(self._row, checked(actions, (self.num_envs, WIDTH)))
        self._returns += rewards
        weights, played = self._weights.take(self._row), self._conversation.copy()
        following = self._row + 1
        ends = following == self._end
        self._row = np.where(ends | over, self._nowhere, following)
        if not self.pool.spec.dense:
            rewards = np.where(ends, self._returns, 0.0)
        infos: Info = {}
        told = {"conversation": played, "scores": scores, "scored": scored, "weight": weights}
        begins = over
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            begins = ends
            self._finish(infos, ends, told)
        for name, values in told.items():
            _add(infos, name, values, ~begins)
        if begins.any():
            self._begin(begins)
            self._announce(infos, begins)
        return self._observe(), rewards, ends, np.zeros(self.num_envs, np.bool_), infos

    def _need_no_reset(self, over: npt.NDArray[np.bool_]) -> None:
        if (self._conversation < 0).any():
            raise ResetNeeded("the episodes have not begun: call reset() before step()")
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            those = ", ".join(map(str, np.flatnonzero(over).tolist()))
            raise ResetNeeded(
                f"the episodes of environments {those} are over, and autoreset is disabled: call "
                'reset(options={"reset_mask": …}) before the next step()'
            )

    def _finish(self, infos: Info, ends: npt.NDArray[np.bool_], told: Mapping[str, Vector]) -> None:
        """Adds the last observations and infos of the episodes that end here."""
        if not ends.any():
            return
        last = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ends).tolist():
            last[i] = np.zeros(self.pool.width, np.float32)
        infos["final_obs"], infos["_final_obs"] = last, ends.copy()
        final: Info = {}
        for name, values in told.items():
            _add(final, name, values, ends)
        infos["final_info"], infos["_final_info"] = final, ends.copy()

    def _announce(self, infos: Info, begun: npt.NDArray[np.bool_]) -> None:
        """Adds what a reset says of its conversation."""
        names = np.full(self.num_envs, None, dtype=object)
        names[begun] = self._names[self._conversation[begun]]
        infos["conversation_id"], infos["_conversation_id"] = names, begun.copy()
        index, known = infos.get("conversation"), infos.get("_conversation")
        if index is None or known is None:
            _add(infos, "conversation", self._conversation.copy(), begun)
        else:
            index[begun] = self._conversation[begun]
            known |= begun


def _add(infos: Info, name: str, values: Vector, rows: npt.NDArray[np.bool_]) -> None:
    """Adds an array and the mask of the rows that hold a value; the others are 0."""
    if rows.any():
        if not rows.all():
            values = values * rows.reshape((-1,) + (1,) * (values.ndim - 1))
        infos[name], infos[f"_{name}"] = values, rows.copy()


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if mode in (known.value, known.name):
            return known
    raise UnknownNameError("autoreset mode", str(mode), _MODES)


def _reset_mask(mask: Any, size: int) -> npt.NDArray[np.bool_]:
    if mask is None:
        return np.ones(size, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (size,) or not mask.any():
        found = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else show(mask)
        raise SettingsError(f"reset_mask is {found}; it must be a bool array of shape ({size},), one True")
    return mask
