"""How a conversation is asked about: mode, stages, PANAS strategy, labels, seed, prompts, wording."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, get_args

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.format.codebook import Codebook, load_official
from attune_episodes.protocol.prompts import PromptSet
from attune_rewards.predictions import STAGES, Stage

Mode = Literal["default", "verbose", "omniscient", "verbose_omniscient"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
PanasStrategy = Literal["absolute", "delta", "blind_delta"]
PANAS_STRATEGIES: Final[tuple[PanasStrategy, ...]] = get_args(PanasStrategy)
Labels = Literal["masked", "official"]
LABELS: Final[tuple[Labels, ...]] = get_args(Labels)


@dataclass(frozen=True)
class Settings:
    """Everything besides the conversation that determines the content of a request."""

    mode: Mode = "default"
    """`verbose` adds reasoning to each answer, `omniscient` the participant's background at turn 1."""
    stages: tuple[Stage, ...] = STAGES
    """The stages that are asked, always in the protocol's order."""
    panas_strategy: PanasStrategy = "absolute"
    """`absolute` predicts the items and `delta` the changes, both given the earlier totals; `blind_delta`
    predicts the changes without them."""
    labels: Labels = "masked"
    """`masked`: neutral labels permuted in each turn, with sides and order shuffled. `official`: the public
    port's fixed labels, sides and order, which reveal the source of each response."""
    seed: int = 0
    """Seeds labels, sides and order, together with conversation and turn."""
    prompts: str = "full"
    """`full`, `compact`, or the path of a folder with your own templates."""
    codebook: Codebook = field(default_factory=Codebook.own)
    """The wording of all questions."""

    def __post_init__(self) -> None:
        for kind, value, known in (
            ("mode", self.mode, MODES),
            ("PANAS strategy", self.panas_strategy, PANAS_STRATEGIES),
            ("label style", self.labels, LABELS),
        ):
            if value not in known:
                raise UnknownNameError(kind, value, known)
        if isinstance(self.stages, str):
            raise SettingsError(f"stages is a list of names, such as ({self.stages!r},), not one text")
        if not isinstance(self.stages, Collection):
            raise SettingsError(f"stages is {show(self.stages)}; expected a list of names, such as {STAGES}")
        if not isinstance(self.codebook, Codebook):
            raise SettingsError(
                f"codebook is {show(self.codebook)}; expected a Codebook, such as Codebook.own() or "
                "load_official(path)"
            )
        if type(self.seed) is not int:
            raise SettingsError(f"seed is {self.seed!r}; it must be a whole number")
        for stage in self.stages:
            if stage not in STAGES:
                raise UnknownNameError("stage", stage, STAGES)
        if not self.stages:
            raise SettingsError(f"no stage is asked; choose from {', '.join(STAGES)}")
        object.__setattr__(self, "stages", tuple(s for s in STAGES if s in self.stages))
        _ = self.prompt_set  # report a wrong name here rather than at the first plan

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def verbose(self) -> bool:
        """Whether answers include reasoning."""
        return self.mode.startswith("verbose")

    @property
    def omniscient(self) -> bool:
        """Whether prompts include the participant's background."""
        return self.mode.endswith("omniscient")

    @cached_property
    def prompt_set(self) -> PromptSet:
        """The templates, loaded once."""
        return PromptSet.named(self.prompts)

    @cached_property
    def words(self) -> Hashable:
        """A key that is equal for settings with the same wording, regardless of which stages they ask."""
        fingerprints = tuple(self._fingerprints.values())
        return (self.mode, self.panas_strategy, self.labels, self.seed, *fingerprints)

    @cached_property
    def key(self) -> Hashable:
        """A key that is equal for equivalent settings, under which plans are cached."""
        return (self.stages, self.words)

    def describe(self) -> dict[str, Any]:
        """The settings as result files record them."""
        sources: tuple[tuple[str, PromptSet | Codebook], ...]
        sources = (("prompts", self.prompt_set), ("codebook", self.codebook))
        marks = {name: {"name": one.name, "fingerprint": one.fingerprint} for name, one in sources}
        return {name: value for name, value in self.to_json().items() if name in _WRITTEN} | marks

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values that `from_json` reads.

        Prompts and codebook are represented by names, paths and fingerprints; `check_same` detects a process
        that has other files under these names.
        """
        return {
            **{name: getattr(self, name) for name in _WRITTEN},
            "stages": list(self.stages),
            "codebook": self.codebook.path,
            "fingerprints": self._fingerprints,
        }

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Settings:
        """Read the settings from the output of `to_json`, or any mapping with their names.

        Fingerprints are not compared. Raises UnknownNameError, SettingsError or DataError for an invalid
        value.
        """
        if not isinstance(written, Mapping):
            raise SettingsError(f"settings are {show(written)}; expected a mapping, as to_json() returns")
        given: dict[str, Any] = {name: written[name] for name in _WRITTEN if name in written}
        book = written.get("codebook")
        return Settings(**given, codebook=Codebook.own() if book is None else _official(str(book)))

    def check_same(
        self, written: Mapping[str, Any], place: str, *names: Literal["prompts", "codebook"]
    ) -> None:
        """Raise DataError if prompts or codebook have changed since `written` was made by `to_json`.

        Args:
            written: the earlier settings.
            place: where they were found, for the error message.
            names: which of the two to compare.
        """
        for name in names:
            now, then = self._fingerprints[name], written["fingerprints"][name]
            if now != then:
                named = written[name] or "our own wording"
                raise DataError(
                    Problem(place, f"settings.{name}", f"{named} with fingerprint {now} here",
                            f"the one used for the run, {then}",
                            "use the same files and version of attune-env, or make the tasks again")
                )  # fmt: skip

    @property
    def _fingerprints(self) -> dict[str, str]:
        return {"prompts": self.prompt_set.fingerprint, "codebook": self.codebook.fingerprint}


_WRITTEN: Final = ("mode", "stages", "panas_strategy", "labels", "seed", "prompts")


@lru_cache(maxsize=8)
def _official(path: str) -> Codebook:
    return load_official(path)
