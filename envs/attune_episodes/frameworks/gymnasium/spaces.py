"""The spaces of `Attune/Conversation-v0`.

Slots are in a fixed order: emotions as in `attune_data.format.affect.EMOTIONS`, yes/no questions as in
`BINARY_IDS`, comparisons and options by their number in the prompt. docs/gymnasium.md describes every field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces

from attune_data.format.affect import EMOTIONS, SCALE
from attune_data.format.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.source.load import MAX_TURNS
from attune_rewards.predictions import STAGES, Stage

MAX_TEXT: Final = 4096
"""Maximum length of a draft or follow-up in the action space; `step` accepts longer ones too."""
COMPARISONS: Final = 12
"""Number of slots for comparisons: four questions times three pairs, as in the benchmark."""
NO_CHANGE: Final = 7
"""If PANAS changes are predicted, value v means a change of v - 7."""
MOST_CHANGED: Final = 2 * NO_CHANGE - 1
NONE_OF: Final = ("emotions", "q1", "follow_up")
"""The answers that the field `none` declares to be empty, slot by slot."""
FIELDS_OF: Final[dict[Stage, tuple[str, ...]]] = {
    "draft": ("draft",),
    "assess": ("emotions", "none", "observed", "preferred"),
    "assess_hp": ("observed_hp", "preferred_hp"),
    "prefer": ("picks",),
    "reflect": ("panas", "none", "q1", "q2", "q3", "follow_up", "branches"),
}
"""Stage -> the fields that answer it."""
FIELDS: Final = tuple(sorted({name for names in FIELDS_OF.values() for name in names}))
"""Fields of the action in the order of the observation's bits `fields`."""
TEXTS: Final = ("draft", "follow_up")
YES_NO: Final = ("observed", "preferred", "observed_hp", "preferred_hp")
SLOTS: Final[dict[str, tuple[tuple[int, ...], int]]] = {
    "emotions": ((len(EMOTIONS),), SCALE[1]),
    "none": ((len(NONE_OF),), 1),
    **dict.fromkeys(YES_NO, ((len(BINARY_IDS),), 2)),
    "picks": ((COMPARISONS,), 2),
    "panas": ((len(EMOTIONS),), SCALE[1]),
    "q1": ((len(Q1_OPTIONS),), 1),
    "q2": ((), len(Q2_OPTIONS)),
    "q3": ((), len(Q3_OPTIONS)),
    "branches": ((len(BRANCHES),), SCALE[1]),
}
"""Numeric field -> its shape, () for a single number, and the highest value."""


class TextSpace(spaces.Space[Any]):
    """Any text of at most `max_length` characters, or an object of one of the `others`; samples are texts.

    Gymnasium's own `Text` has a fixed alphabet. Such texts do not fit in shared memory, so `AsyncVectorEnv`
    needs `shared_memory=False`.
    """

    def __init__(
        self, max_length: int, others: tuple[type, ...] = (), *, seed: int | np.random.Generator | None = None
    ) -> None:
        self.max_length, self.others = max_length, others
        super().__init__(seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Always False, since a text is not an array."""
        return False

    def sample(self, mask: int | None = None, probability: None = None) -> str:
        """Draw up to 32 lower-case letters, or exactly `mask` of them if that is given."""
        length = int(self.np_random.integers(min(self.max_length, 32) + 1)) if mask is None else mask
        return self.np_random.integers(97, 123, size=length, dtype=np.uint8).tobytes().decode("ascii")

    def contains(self, x: Any) -> bool:
        """Whether a value is a short enough text or one of the other objects."""
        return len(x) <= self.max_length if isinstance(x, str) else isinstance(x, self.others)

    def __eq__(self, other: object) -> bool:
        mine = (self.max_length, self.others)
        return isinstance(other, TextSpace) and (other.max_length, other.others) == mine

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.max_length})"


if TYPE_CHECKING:
    _MultiDiscrete = spaces.MultiDiscrete[np.int8]
else:
    _MultiDiscrete = spaces.MultiDiscrete  # before Gymnasium 1.4, it accepts no type


class Choices(_MultiDiscrete):
    """A MultiDiscrete of `size` answers from 0 to `highest`, fast to sample with a mask.

    The mask may be one int8 array of shape (size, highest + 1), which is a hundred times faster than the
    tuples that Gymnasium takes. A slot whose mask is all 0 gives 0.
    """

    def __init__(self, size: int, highest: int) -> None:
        super().__init__(np.full(size, highest + 1), np.int8)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw one answer per slot, uniformly from those that the mask allows."""
        if not isinstance(mask, np.ndarray):
            return super().sample(mask=mask, probability=probability)
        wanted = (*self.shape, int(self.nvec[0]))
        if probability is not None or mask.shape != wanted:
            raise ValueError(f"mask has shape {mask.shape}, expected {wanted} without a probability argument")
        # the largest of the allowed draws: each is equally likely, and none of them is 0
        return ((1 - self.np_random.random(mask.shape)) * mask).argmax(-1).astype(np.int8)


def action_space(*, changes: bool = False, hp: bool = False) -> spaces.Dict:
    """The space of structured actions: one field per answer, in which 0 (or "") means no answer.

    Args:
        changes: predict PANAS changes instead of items.
        hp: the stage assess_hp is asked, which has its own fields.
    """

    def space(name: str) -> spaces.Space[Any]:
        if name in TEXTS:
            return TextSpace(MAX_TEXT)
        shape, highest = SLOTS[name]
        if not shape:
            return spaces.Discrete(highest + 1)
        if highest == 1:
            return spaces.MultiBinary(*shape)
        return Choices(shape[0], MOST_CHANGED if changes and name == "panas" else highest)

    return spaces.Dict({name: space(name) for name in FIELDS if hp or not name.endswith("_hp")})


def observation_space(max_chars: int) -> spaces.Dict:
    """The space of observations: the messages as one text, the position, and what is asked."""
    return spaces.Dict(
        {
            "messages": TextSpace(max_chars),
            "turn": spaces.Discrete(MAX_TURNS + 1),
            "stages": spaces.MultiBinary(len(STAGES)),
            "fields": spaces.MultiBinary(len(FIELDS)),
            "questions": spaces.MultiBinary(len(BINARY_IDS)),
            "comparisons": spaces.MultiBinary(COMPARISONS),
        }
    )
