"""The spaces of `Attune/Conversation-v0`: text of any kind, choices with fast masks, and their builders.

Field by field they are described in `docs/gymnasium.md`. Slots are in fixed orders: emotions as in
`attune_data.affect.EMOTIONS`, yes/no questions as in `BINARY_IDS`, comparisons by their number in the
prompt, options by theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import utils
from numpy.typing import NDArray

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.loading import MAX_TURNS
from attune_rewards.predictions import STAGES, Stage

Mask = NDArray[np.int8]
MAX_TEXT: Final = 4096
"""Longest draft or follow-up that the action space names; `step` takes longer ones too."""
COMPARISONS: Final = 12
"""Slots for comparisons: four questions times three pairs, as the benchmark has it."""
CHANGES: Final = 13
"""Values of a PANAS change, -6 to 6; answer v means v - 7."""
NONE_OF: Final = ("emotions", "q1", "follow_up")
"""What the field `none` speaks of, slot by slot."""
FIELDS: Final[tuple[str, ...]] = (
    "branches", "draft", "emotions", "follow_up", "none", "observed", "observed_hp", "panas", "picks",
    "preferred", "preferred_hp", "q1", "q2", "q3",
)  # fmt: skip
"""Fields of the flat action in the order of the observation's mask `fields`."""
FIELDS_OF: Final[dict[Stage, tuple[str, ...]]] = {
    "draft": ("draft",),
    "assess": ("emotions", "none", "observed", "preferred"),
    "assess_hp": ("observed_hp", "preferred_hp"),
    "prefer": ("picks",),
    "reflect": ("panas", "q1", "none", "q2", "q3", "follow_up", "branches"),
}
"""Stage -> the fields that count in it."""


class TextSpace(spaces.Space[str]):
    """Texts of `min_length` to `max_length` characters, any characters.

    Gymnasium's own `Text` knows an alphabet and looks every character up. Flattened it is `max_length`
    code points, -1 where the text has ended. It is not registered for shared memory: Gymnasium reads such
    buffers of text once only, and would serve the first text for ever; `AsyncVectorEnv` asks for
    `shared_memory=False` instead.
    """

    def __init__(
        self,
        max_length: int,
        *,
        min_length: int = 0,
        sample_length: int = 32,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Describes the texts.

        Args:
            max_length: characters at most, at least 1.
            min_length: characters at least.
            sample_length: samples are at most this long.
            seed: of samples.
        """
        if not 0 <= min_length <= max_length or max_length < 1:
            raise ValueError(f"texts of {min_length} to {max_length} characters: 0 <= min <= max, 1 <= max")
        self.min_length, self.max_length = min_length, max_length
        self.sample_length = max(min_length, min(sample_length, max_length))
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """True: code points in an array."""
        return True

    def sample(self, mask: int | None = None, probability: None = None) -> str:
        """Lower-case letters, up to `sample_length` of them.

        Args:
            mask: the length wanted; 0 gives "".
            probability: not supported: NotImplementedError.
        """
        if probability is not None:
            raise NotImplementedError("texts are not drawn by probability")
        draw = self.np_random
        length = int(draw.integers(self.min_length, self.sample_length + 1)) if mask is None else int(mask)
        return draw.integers(97, 123, size=length, dtype=np.uint8).tobytes().decode("ascii")

    def contains(self, x: Any) -> bool:
        """Whether it is a text of a length in bounds."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def to_jsonable(self, sample_n: Iterable[str]) -> list[Any]:
        """The texts as they are."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """The texts as they are."""
        return list(sample_n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextSpace) or type(other) is not type(self):
            return False
        return (self.min_length, self.max_length) == (other.min_length, other.max_length)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.min_length}, {self.max_length})"


@utils.flatdim.register(TextSpace)
def _flatdim(space: TextSpace) -> int:
    return space.max_length


@utils.flatten_space.register(TextSpace)
def _flatten_space(space: TextSpace) -> spaces.Box:
    return spaces.Box(-1, 0x10FFFF, (space.max_length,), np.int32)


def _flatten(space: TextSpace, x: str) -> NDArray[np.int32]:
    flat = np.full(space.max_length, -1, np.int32)
    codes = np.frombuffer(x.encode("utf-32-le", "surrogatepass"), np.int32)
    flat[: len(codes)] = codes
    return flat


def _unflatten(space: TextSpace, x: NDArray[Any]) -> str:
    codes = np.ascontiguousarray(x[x >= 0], np.int32)
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


utils.flatten.register(TextSpace, _flatten)
utils.unflatten.register(TextSpace, _unflatten)


if TYPE_CHECKING:
    _MultiDiscrete = spaces.MultiDiscrete[np.int8]
else:
    _MultiDiscrete = spaces.MultiDiscrete  # before Gymnasium 1.4 it takes no type


class Choices(_MultiDiscrete):
    """`size` answers, each one of 0 to `values` - 1.

    A MultiDiscrete whose `sample` also takes its mask as one int8 array of shape (size, values), which is
    15 times faster than nested tuples. A slot whose mask is all 0 gives 0.
    """

    def __init__(self, size: int, values: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(np.full(size, values), np.int8, seed)

    def contains(self, x: Any) -> bool:
        """Whether it is an array (or list) of whole numbers in bounds, of whatever integer type."""
        found = np.asarray(x) if isinstance(x, (list, tuple)) else x
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu" or found.shape != self.shape:
            return False
        return bool(np.all(found >= 0) and np.all(found < self.nvec))

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """One answer a slot, evenly among those that the mask allows."""
        if not isinstance(mask, np.ndarray):
            return super().sample(mask=mask, probability=probability)
        wanted = (*self.shape, int(self.nvec[0]))
        if probability is not None or mask.shape != wanted:
            raise ValueError(f"mask has shape {mask.shape}, expected {wanted}, and no probability beside it")
        # the largest of the allowed draws: each is as likely as the others, and none of them is 0
        drawn: NDArray[np.int64] = ((1 - self.np_random.random(mask.shape, dtype=np.float32)) * mask).argmax(
            -1
        )
        return drawn


class Choice(spaces.Discrete):
    """One answer of 0 to n - 1: a Discrete that is quick to sample with a mask."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """One answer, evenly among those that the mask (int8, shape (n,)) allows; 0 where it allows none."""
        if mask is None or probability is not None or mask.shape != (self.n,):
            return super().sample(mask=mask, probability=probability)
        return np.int64(((1 - self.np_random.random(mask.shape[0])) * mask).argmax())


class Bits(spaces.MultiBinary):
    """A MultiBinary that is quick to sample with a mask (int8: 0 and 1 fixed, 2 free)."""

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int8]:
        """One bit a slot."""
        if mask is None or probability is not None or mask.shape != self.shape:
            return super().sample(mask=mask, probability=probability)
        drawn = (self.np_random.random(mask.shape) * mask) >= 1.0
        return np.where(mask == 1, 1, drawn).astype(np.int8)


def action_space(*, changes: bool = False, hp: bool = False) -> spaces.Dict:
    """The flat action: one field an answer, 0 (or "") meaning no answer.

    Args:
        changes: PANAS changes are asked rather than items.
        hp: the stage assess_hp is asked, which has answers of its own.
    """
    yes_no = len(BINARY_IDS)
    fields: dict[str, spaces.Space[Any]] = {
        "draft": TextSpace(MAX_TEXT),
        "emotions": Choices(len(EMOTIONS), 8),
        "none": Bits(len(NONE_OF)),
        "observed": Choices(yes_no, 3),
        "preferred": Choices(yes_no, 3),
        "picks": Choices(COMPARISONS, 3),
        "panas": Choices(len(EMOTIONS), CHANGES + 1 if changes else 8),
        "q1": Bits(len(Q1_OPTIONS)),
        "q2": Choice(len(Q2_OPTIONS) + 1),
        "q3": Choice(len(Q3_OPTIONS) + 1),
        "follow_up": TextSpace(MAX_TEXT),
        "branches": Choices(len(BRANCHES), 8),
    }
    if hp:
        fields |= {"observed_hp": Choices(yes_no, 3), "preferred_hp": Choices(yes_no, 3)}
    return spaces.Dict(fields)


def observation_space(max_chars: int) -> spaces.Dict:
    """What a step presents: the messages as one text, where it stands, and what is asked."""
    return spaces.Dict(
        {
            "messages": TextSpace(max_chars),
            "stage": spaces.Discrete(len(STAGES)),
            "turn": spaces.Discrete(MAX_TURNS + 1),
            "fields": spaces.MultiBinary(len(FIELDS)),
            "questions": spaces.MultiBinary(len(BINARY_IDS)),
            "comparisons": spaces.MultiBinary(COMPARISONS),
        }
    )
