"""The background of the omniscient modes: profile, feelings before the conversation, topic attitude."""

from __future__ import annotations

from attune_data.format.affect import EMOTIONS
from attune_data.format.schema import Conversation

_SCORES = {
    "who_5": "WHO-5 well-being (0-25, higher is better)",
    "asrs_6": "ASRS-6 attention screening (0-6)",
    "aq_10": "AQ-10 autism-spectrum screening (0-10)",
    "promis_anxiety_t": "PROMIS anxiety (T score)",
    "promis_depression_t": "PROMIS depression (T score)",
    "promis_sleep_t": "PROMIS sleep disturbance (T score)",
    "tipi_extraversion": "Extraversion (2-14)",
    "tipi_agreeableness": "Agreeableness (2-14)",
    "tipi_conscientiousness": "Conscientiousness (2-14)",
    "tipi_stability": "Emotional stability (2-14)",
    "tipi_openness": "Openness (2-14)",
}


def background_lines(conversation: Conversation) -> list[str]:
    """The background, one line per fact; never includes the participant's id or the annotations."""
    lines: list[str] = []
    profile = conversation.participant_profile
    if conversation.metadata and conversation.metadata.category:
        topic = conversation.metadata.category
        if conversation.metadata.subtopic:
            topic += f": {conversation.metadata.subtopic}"
        lines.append(f"Topic: {topic}")
    if profile and profile.conversation_topic_attitude:
        lines.append(f"Attitude towards the topic beforehand: {profile.conversation_topic_attitude}")
    if profile and profile.demographics:
        facts = profile.demographics
        for name, value in (
            ("Country", facts.country),
            ("Education", facts.education),
            ("Work or education background", ", ".join(facts.work_edu_background or ())),
            ("Gender", facts.gender),
            ("Age", facts.age_range),
            ("English", facts.english_proficiency),
            ("Diagnoses", ", ".join(facts.diagnoses or ())),
        ):
            if value:
                lines.append(f"{name}: {value}")
    scores = (profile.computed_scores if profile else None) or {}
    lines += [f"{label}: {scores[name]}" for name, label in _SCORES.items() if scores.get(name) is not None]
    if pre := conversation.pre_panas:
        items = [f"{name} {rating}" for name in EMOTIONS if (rating := pre.item(name)) is not None]
        if items:
            lines.append(f"Feelings before the conversation (1-7): {', '.join(items)}")
        totals = (pre.total("positive"), pre.total("negative"))
        if None not in totals:
            lines.append(f"Positive and negative affect before (10-70): {totals[0]:g} and {totals[1]:g}")
    return lines or ["No background is known."]
