"""Settings as JSON values, and back: what a task, a sample or a document carries of how it is asked.

Prompts and wording go along as names, paths and fingerprints: a worker with another copy of these files
cannot ask something else unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, cast

from attune_data.codebook import Codebook, load_official
from attune_data.errors import DataError, Problem
from attune_episodes.settings import Settings


def write_settings(settings: Settings, codebook: str | None) -> dict[str, Any]:
    """Settings as JSON values.

    Args:
        settings: how it is asked.
        codebook: path of the official codebook in use; None for the project's own wording.
    """
    return {
        "mode": settings.mode,
        "stages": list(settings.stages),
        "panas_strategy": settings.panas_strategy,
        "labels": settings.labels,
        "seed": settings.seed,
        "prompts": settings.prompts,
        "codebook": codebook,
        "fingerprints": {
            "prompts": settings.prompt_set.fingerprint,
            "codebook": settings.codebook.fingerprint,
        },
    }


def make_settings(written: Mapping[str, Any]) -> Settings:
    """Settings from what `write_settings` gives; fingerprints are not looked at and may be missing.

    UnknownNameError, SettingsError or DataError name what is wrong.
    """
    book = written["codebook"]
    return Settings(
        mode=written["mode"],
        stages=cast(Any, tuple(written["stages"])),
        panas_strategy=written["panas_strategy"],
        labels=written["labels"],
        seed=written["seed"],
        prompts=written["prompts"],
        codebook=Codebook.own() if book is None else _official(book),
    )


def check_same(
    what: Literal["prompts", "codebook"], written: Mapping[str, Any], settings: Settings, place: str
) -> None:
    """Raises DataError where this process has other prompts, or another codebook, than were written down.

    Args:
        what: which of the two.
        written: as `write_settings` gave it then.
        settings: made of it now.
        place: where it was written, for the error.
    """
    now = settings.prompt_set.fingerprint if what == "prompts" else settings.codebook.fingerprint
    then = written["fingerprints"][what]
    if now != then:
        named = written[what] or "our own wording"
        raise DataError(
            Problem(place, f"settings.{what}", f"{named} with fingerprint {now} here",
                    f"the one that was asked with, {then}",
                    "use the same files and version of attune-env, or make the tasks again")
        )  # fmt: skip


@lru_cache(maxsize=8)
def _official(path: str) -> Codebook:
    return load_official(path)
