"""The questionnaires in participants' profiles: their ranges and published screening cuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """One score of `participant_profile.computed_scores`."""

    name: str
    """Its name there."""
    title: str
    low: float
    high: float
    cut: float | None = None
    """Published screening cut-off; None if there is none."""
    below: bool = False
    """Whether the screen is positive below the cut-off; otherwise it is positive at or above it."""

    def positive(self, value: float) -> bool:
        """Whether a score counts as a positive screen; raises ValueError if there is no cut-off."""
        if self.cut is None:
            raise ValueError(f"{self.name} has no screening cut")
        return value < self.cut if self.below else value >= self.cut


_T: Final = (30, 85, 60)

QUESTIONNAIRES: Final[Mapping[str, Questionnaire]] = {
    one.name: one
    for one in (
        Questionnaire("who_5", "WHO-5", 0, 25, 13, below=True),
        Questionnaire("asrs_6", "ASRS-6", 0, 6, 4),
        Questionnaire("aq_10", "AQ-10", 0, 10, 6),
        Questionnaire("promis_anxiety_t", "PROMIS anxiety T", *_T),
        Questionnaire("promis_depression_t", "PROMIS depression T", *_T),
        Questionnaire("promis_sleep_t", "PROMIS sleep T", *_T),
        Questionnaire("tipi_extraversion", "TIPI extraversion", 2, 14),
        Questionnaire("tipi_agreeableness", "TIPI agreeableness", 2, 14),
        Questionnaire("tipi_conscientiousness", "TIPI conscientiousness", 2, 14),
        Questionnaire("tipi_stability", "TIPI emotional stability", 2, 14),
        Questionnaire("tipi_openness", "TIPI openness", 2, 14),
    )
}
"""By name. Cut-offs: WHO-5 raw below 13 (Topp et al. 2015), ASRS six-item screener 4 (Kessler et al. 2005),
AQ-10 6 (Allison et al. 2012), PROMIS T 60, one standard deviation above the population's mean."""
