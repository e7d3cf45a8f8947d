"""Simulated conversations to read: `python -m attune_data.simulate.gallery` prints the page in docs/."""

from __future__ import annotations

from attune_data.schema import Conversation, Turn
from attune_data.simulate.stream import Simulation

SEED = 2026
COUNT = 20
_INTRODUCTION = f"""# Twenty simulated conversations

Items 0 to {COUNT - 1} of seed {SEED} at the default level, as they come; nobody chose them. What they are
and are not: [simulator.md](simulator.md). Made by `python -m attune_data.simulate.gallery`; a test compares.

After each message stand the mood tags, after each reply what the person found wrong with it: many replies are
meant to miss. The reply is the recorded one; the two alternatives are in the data.
"""


def page() -> str:
    """The whole page, in Markdown."""
    world = Simulation(SEED)
    return "\n".join([_INTRODUCTION, *(as_markdown(world[i], i + 1) for i in range(COUNT))])


def as_markdown(conversation: Conversation, number: int) -> str:
    """One conversation with what the person said of it."""
    about, profile, wide = (
        conversation.metadata,
        conversation.participant_profile,
        conversation.conversation_wide,
    )
    topic = about.text if about else None
    diagnoses = profile.demographics.diagnoses if profile and profile.demographics else None
    lines = [
        f"## {number}. {topic}",
        "",
        f"*{about.model if about else None}; {', '.join(diagnoses or ())}*",
        "",
    ]
    for turn in conversation.turns:
        lines += [f"**Person:** {_quoted(turn.user_message)} *({_tags(turn)})*", ""]
        lines += [f"**Reply:** {turn.llm_response}{_verdict(turn)}", ""]
    if wide:
        looked_for = "; ".join(wide.q1_looking_for or ())
        off = "; ".join(wide.q3_follow_up or ()) or "nothing"
        lines += [f"Looking for: {looked_for}. Clarity: {wide.q2_emotion_clarity}. Fit: {wide.q3_model_fit}. "
                  f"Felt off: {off}.", ""]  # fmt: skip
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A message on one line, its line breaks shown."""
    return text.replace("\n", " / ")


_VERDICTS = {
    "B2": ("no", "misread the feeling"),
    "B8": ("no", "wrong tone"),
    "B9": ("no", "not serious enough"),
    "B10": ("no", "wrong measure of emotion"),
    "B20": ("yes", "made it worse"),
}


def _verdict(turn: Turn) -> str:
    """What the person found wrong with the reply."""
    answers = {j.question_id: j.observed for j in turn.judgements}
    found = [words for question, (bad, words) in _VERDICTS.items() if answers.get(question) == bad]
    return f" *(found: {', '.join(found)})*" if found else ""


def _tags(turn: Turn) -> str:
    return ", ".join(f"{tag.emotion} {tag.intensity}" for tag in turn.mood_shift_tags or ()) or "no tag"


if __name__ == "__main__":
    print(page(), end="")
