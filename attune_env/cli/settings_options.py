"""The options that decide how a conversation is asked about, of every command that asks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from attune_rewards.predictions import Stage


class PanasChoice(StrEnum):
    """How post-conversation feelings are asked."""

    absolute = "absolute"
    delta = "delta"
    blind_delta = "blind_delta"


class LabelChoice(StrEnum):
    """How the three responses are labelled."""

    masked = "masked"
    official = "official"


PanasStrategy = Annotated[PanasChoice, typer.Option(help="How feelings afterwards are asked.")]
Labels = Annotated[LabelChoice, typer.Option(help="masked hides which response is which.")]
Stages = Annotated[
    str | None, typer.Option(help="Comma-separated subset of draft,assess,assess_hp,prefer,reflect.")
]
Prompts = Annotated[str, typer.Option(help="full, compact, or a folder of templates.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Play only the first N conversations (of those left).")
]
OfficialCodebook = Annotated[
    Path | None,
    typer.Option(help="Official annotation_codebook.json; by default the one beside the data."),
]


def read_stages(names: str | None) -> tuple[Stage, ...]:
    """The stages of a comma-separated list; all of them without one."""
    from attune_data import UnknownNameError
    from attune_rewards.predictions import STAGES

    wanted = [name.strip() for name in names.split(",")] if names is not None else list(STAGES)
    for name in wanted:
        if name not in STAGES:
            raise UnknownNameError("stage", name, STAGES)
    return tuple(stage for stage in STAGES if stage in wanted)
