"""Answers as numbers: the action space of `Attune/Features-v0`, its masks, and what is no action."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import InvalidAction

from attune_rewards.coded import LAYOUT, VALUES, WIDTH

Action = npt.NDArray[Any]

_MOST: Final = int(VALUES.max())
_LIMITS: Final = VALUES.astype(np.uint8)
_LEGAL: Final = np.arange(_MOST) < VALUES[:, None]


def legal_values(asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    """Action masks from what is asked: shape (…, WIDTH) to (…, WIDTH, 8); where nothing is asked only 0."""
    mask = (asked[..., None] & _LEGAL).astype(np.int8)
    mask[..., 0] = 1
    return mask


class AnswerSpace(spaces.MultiDiscrete[np.int8]):
    """Answers as `attune_rewards.coded` lays them out: a MultiDiscrete that samples quickly with a mask."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(VALUES, np.int8, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> npt.NDArray[np.int8]:
        """A random answer.

        Args:
            mask: an array of shape (WIDTH, 8), as `action_mask` gives it: 1 = may be drawn, each evenly, and
                a place without any 1 is 0; or a tuple of arrays, as MultiDiscrete takes it.
            probability: as MultiDiscrete takes it.
        """
        if not isinstance(mask, np.ndarray):
            return super().sample(mask=mask, probability=probability)
        if probability is not None or mask.shape != (WIDTH, _MOST):
            raise ValueError(
                f"mask has shape {mask.shape}, expected {(WIDTH, _MOST)}, and no probability beside it"
            )
        drawn = (1.0 - self.np_random.random(mask.shape, dtype=np.float32)) * mask
        answer: npt.NDArray[np.int8] = drawn.argmax(axis=1).astype(np.int8)
        return answer


def checked(action: Any, shape: tuple[int, ...]) -> Action:
    """The action as whole numbers of that shape, or InvalidAction saying what is wrong with it."""
    try:
        answer = np.asarray(action)
    except ValueError as error:  # lists of different lengths
        raise InvalidAction(
            f"an action is whole numbers of shape {shape}, got {type(action).__name__}"
        ) from error
    if answer.shape != shape or answer.dtype.kind not in "iu":
        raise InvalidAction(f"an action is whole numbers of shape {shape}, got {answer.dtype} {answer.shape}")
    if answer.dtype == np.int8 and not (answer.view(np.uint8) >= _LIMITS).any():
        return answer  # one comparison says both: below 0 reads as above 127
    if (wrong := (answer < 0) | (answer >= VALUES)).any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        field = next(name for name, place in LAYOUT.items() if place.start <= where[-1] < place.stop)
        most = int(VALUES[where[-1]]) - 1
        raise InvalidAction(f"action{list(where)}, of {field}, is {answer[where]}; it must be 0 to {most}")
    return answer
