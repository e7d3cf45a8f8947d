"""What all makers of training rows share: arguments, checked, and what a dataset says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from attune_data.constants import Provenance
from attune_data.errors import DataError, Problem, show
from attune_data.schema import Conversation
from attune_episodes.settings import Settings
from attune_rewards.spec import RewardSpec


def settings_of(settings: object) -> Settings:
    """The settings, the default protocol for None; TypeError for anything else."""
    if settings is None:
        return Settings()
    if not isinstance(settings, Settings):
        raise TypeError(f"settings are a Settings(…), got {type(settings).__name__}")
    return settings


def sequence_of(conversations: object) -> Sequence[Conversation]:
    """Many conversations that are all there; TypeError for one, and for what is lazy."""
    if isinstance(conversations, (str, Conversation)) or not isinstance(conversations, Sequence):
        advice = "of what is lazy take some: Simulation(seed=1).take(1000)"
        raise TypeError(f"conversations come in a sequence, got {show(conversations)}; {advice}")
    return cast("Sequence[Conversation]", conversations)


def unscored(spec: RewardSpec, source: str = "conversations") -> DataError:
    """The error where nothing in the conversations of a source earns anything."""
    return DataError(
        Problem(source, "", f"nothing annotated that reward {spec.name!r} scores",
                "an annotation in the stages asked", "attune data stats shows what is annotated")
    )  # fmt: skip


def described(what: str, mark: Provenance | None) -> str:
    """The description of a dataset.

    Args:
        what: what its rows are.
        mark: what `for_training` says of the conversations; None where benchmark records are refused as
            they come.
    """
    text = f"{what}, provenance {mark}." if mark else f"{what}, no benchmark records."
    if mark == "benchmark":
        text += " Made with allow_benchmark_training=True: AttuneBench's authors forbid training on it."
    return text
