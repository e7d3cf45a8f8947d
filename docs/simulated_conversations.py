"""Write docs/simulated-conversations.md, twenty conversations of the simulated world as they come.

python docs/simulated_conversations.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attune_data import Conversation, Turn
from attune_data.simulate import Simulation

PAGE: Final = Path(__file__).with_name("simulated-conversations.md")
SEED: Final = 2026
COUNT: Final = 20
HEAD: Final = f"""# Twenty simulated conversations

Items 0 to {COUNT - 1} of seed {SEED} at the default level, as they come; nobody chose them. What they are
and are not: [simulator.md](simulator.md).

After each message stand the mood tags, after each reply what the person found wrong with it: many replies are
meant to miss. The reply is the recorded one; the two alternatives are in the data.
"""
WRONG: Final = {
    ("B2", "no"): "misread the feeling",
    ("B8", "no"): "wrong tone",
    ("B9", "no"): "not serious enough",
    ("B10", "no"): "wrong measure of emotion",
    ("B20", "yes"): "made it worse",
}
"""Question and answer -> what the person found."""


def shown(turn: Turn) -> str:
    """The message with its tags, and the reply with what was wrong with it."""
    tags = ", ".join(f"{tag.emotion} {tag.intensity}" for tag in turn.mood_shift_tags or ()) or "no tag"
    answers = {(judged.question_id, judged.observed) for judged in turn.judgements}
    wrong = [said for answer, said in WRONG.items() if answer in answers]
    after = f" *(found: {', '.join(wrong)})*" if wrong else ""
    message = turn.user_message.replace("\n", "  \n")
    return f"**Person:** {message} *({tags})*\n\n**Reply:** {turn.llm_response}{after}\n"


def section(number: int, conversation: Conversation) -> str:
    """One conversation under its heading, with what the person answered at its end."""
    about, wide = conversation.metadata, conversation.conversation_wide
    assert about is not None
    assert wide is not None
    lines = [
        f"## {number}. {about.text}\n",
        f"*{about.model}; {', '.join(conversation.diagnoses or ())}*\n",
        *map(shown, conversation.turns),
        f"Looking for: {'; '.join(wide.q1_looking_for or ())}. Clarity: {wide.q2_emotion_clarity}. "
        f"Fit: {wide.q3_model_fit}. Felt off: {'; '.join(wide.q3_follow_up or ()) or 'nothing'}.\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    world = Simulation(SEED)
    sections = [section(i + 1, world[i]) for i in range(COUNT)]
    PAGE.write_text("\n".join([HEAD, *sections]), encoding="utf-8")
