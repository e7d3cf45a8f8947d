"""From the arguments of the task, which `-T name=value` gives, to conversations and settings."""

from __future__ import annotations

from typing import Any, Final

from attune_data.errors import SettingsError, show
from attune_data.loading import Conversations
from attune_data.simulate.stream import Simulation
from attune_episodes.data_source import check_flag, choose_data, codebook_for
from attune_episodes.settings import Settings
from attune_episodes.settings_json import make_settings
from attune_episodes.training.arguments import unscored
from attune_rewards.predictions import STAGES
from attune_rewards.reward import scored_requests
from attune_rewards.spec import RewardSpec

Text = str | list[str]
"""A text, or the list that Inspect makes of one with commas in it."""
SPEC: Final = "composite"
"""What the rollouts are paid; the numbers of the task are those of `attune score`."""


def conversations_of(
    settings: Settings,
    data: Text,
    *,
    level: str,
    world_seed: int,
    number: int | None,
    split: str | None,
    where: Text | None,
    provenance: str | None,
) -> Conversations:
    """The conversations that the task plays: `choose_data` of these arguments.

    Raises DataError where nothing in them is scored in the stages asked, and SettingsError for a simulated
    world without a `number`, which has no end.
    """
    kept: Any = provenance
    found = choose_data(
        text_of("data", data),
        level=level,
        world_seed=world_seed,
        number=number,
        split=split,
        where=None if where is None else text_of("where", where),
        provenance=kept,
    )
    if isinstance(found, Simulation):
        raise SettingsError("simulated people have no end; say how many conversations: -T number=20")
    spec = RewardSpec.preset(SPEC)
    if not any(scored_requests(one, spec, settings.stages) for one in found):
        raise unscored(spec, text_of("data", data))
    return found


def settings_of(
    data: Text, codebook: Text | None, stages: Text | None, prompts: Text, **told: object
) -> tuple[Settings, str | None]:
    """How it is asked, and the path of the official codebook in use (None: our own wording).

    Args:
        data: where the conversations are: the official codebook may lie beside them.
        codebook: path of the official codebook; None takes the one beside the data.
        stages: names, in a list or with commas between them; None for all of them.
        prompts: full, compact, or a folder of templates.
        told: the other fields of `Settings`.
    """
    path = codebook_for(text_of("data", data), None if codebook is None else text_of("codebook", codebook))
    names = STAGES if stages is None else _names(stages)
    text = text_of("prompts", prompts)
    return make_settings({**told, "stages": names, "prompts": text, "codebook": path}), path


def check_asking(reasks: object, parallel: object, structured: object) -> None:
    """Raises SettingsError where an argument on how requests are sent is none."""
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", structured)


def text_of(name: str, value: object) -> str:
    """A text as it was typed; SettingsError for anything else.

    `-T` reads its values as YAML and cuts texts at commas.
    """
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is no text; where it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value


def _names(stages: Text) -> tuple[str, ...]:
    return tuple(name.strip() for name in text_of("stages", stages).split(","))
