"""Replies by somebody who reads nothing: sentences that fit anywhere, and frames that copy from the message.

A `Blind` policy says, turn by turn, one wording of each of its blocks; with `wordings` 1 it says the same reply
every turn, with more it goes round. Frames fill {word} and {other} with the message's longest rare words, {first}
and {last} with its first and last sentence read as the second person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from attune_data.simulate.texts import texts
from attune_episodes.live.hearing import turned
from attune_episodes.reading.cues import WORDS, sentences, words

if TYPE_CHECKING:
    from attune_episodes.live.episode import LiveEpisode

BLOCKS: Final[Mapping[str, Sequence[str]]] = {
    "thank": (
        "Thank you for telling me about this.",
        "I am glad that you wrote this down for me.",
        "It means something that you share this here.",
        "Good that you brought it up today.",
    ),
    "listen": (
        "I am here and I have time for all of it.",
        "Take the time that you need, I am with you.",
        "You do not have to hurry with any of this.",
        "I am reading every word that you write.",
    ),
    "hard": (
        "That sounds really hard, and I am sorry that you are going through it.",
        "This is a lot to carry for one person.",
        "I can tell that this weighs on you right now.",
        "What you describe would be heavy for anybody.",
    ),
    "glad": (
        "That sounds lovely, and I am happy for you.",
        "What good news, you must be pleased with how it went.",
        "I can hear how much joy there is in this.",
        "You can be proud of what you did there.",
    ),
    "mixed": (
        "It sounds as if part of you feels one thing and part of you another.",
        "There seem to be mixed feelings in what you write.",
        "I hear more than one feeling in this at once.",
        "You seem to be torn between two things here.",
    ),
    "validate": (
        "It makes complete sense that you feel this way.",
        "Anybody in your place would feel like that.",
        "Your reaction is understandable after what happened.",
        "You have every right to feel how you feel about it.",
    ),
    "reason": (
        "Things like this hit us because they matter to us so much.",
        "It stays with you because you put a lot of yourself into it.",
        "That is often so because nobody prepares us for such moments.",
        "One reason may be that you had hoped for something else.",
    ),
    "ask": (
        "How long has this been going on for you?",
        "When did it start, and who else knows about it?",
        "Have you been able to talk to somebody about it?",
        "Has anything like this happened to you before?",
    ),
    "reflect": (
        "What do you think matters most to you in this?",
        "What does this mean for you, when you look at it from further off?",
        "What would you like to be different a month from now?",
        "What is it about this that stays with you?",
    ),
    "advise": (
        "You could write down what you want to say and try it on a friend first.",
        "It may help to take one small step today and leave the rest for tomorrow.",
        "I would suggest that you talk to them when both of you are rested.",
        "Perhaps try to set a fixed time for it this week.",
    ),
    "obstacle": (
        "It may be hard to find the right moment for that.",
        "What could get in the way is that people are busy.",
        "I know that this is easier said than done.",
        "The first step is often the one that takes longest.",
    ),
    "cheer": (
        "You are doing great, and I believe in you!",
        "You have got this, one day at a time!",
        "Keep going, you are stronger than you think!",
        "I am sure that it will all turn out well!",
    ),
    "echo word": (
        "So there is the {word}, and then the {other} as well.",
        "I keep thinking of the {word} that you tell me about, and of the {other}.",
        "The {word} and the {other}, one after the other, I see.",
        "You mention the {word}, and I understand that the {other} belongs to it.",
    ),
    "echo feeling": (
        "It sounds as if the {word} has left its mark on you, {other} and all.",
        "I can hear how much the {word} is on your mind, and the {other} too.",
        "With the {word} and the {other}, you seem to feel quite a lot just now.",
        "The {word} seems to move you more than the {other} does.",
    ),
    "validate word": (
        "No wonder, with the {word} and the {other} in one week.",
        "It makes sense to feel like that about the {word}.",
        "After the {word}, your reaction to the {other} is understandable.",
        "Anybody would feel that way about the {word}, and the {other} adds to it.",
    ),
    "reason word": (
        "The {word} stays with you because it matters to you.",
        "It is harder because the {word} came on top of the {other}.",
        "The {word} counts for so much because you care about the {other}.",
        "That is because the {word} is about more than the {other}.",
    ),
    "ask word": (
        "How long has the {word} been on your mind?",
        "What about the {word} matters most to you?",
        "What was the {other} like for you?",
        "What would you want to happen with the {word} now?",
    ),
    "advise word": (
        "You could take the {word} one step at a time and tell a friend about it.",
        "It may help to write down what you want about the {word}.",
        "I would suggest that you leave the {word} until tomorrow.",
        "Perhaps try to talk about the {word} when you are rested.",
    ),
    "copy first": ("{first}",),
    "copy last": ("You tell me that {last}",),
    "copy all": ("If I understand you, {first} and {last}",),
}
"""Block -> its wordings."""
CLAIM: Final = (
    "You sound {feel} about this.",
    "I think that you are {feel} right now.",
    "You seem {feel} to me.",
)


class Blind(NamedTuple):
    """A policy that knows nothing: the blocks that it says, and how many wordings of each it goes round."""

    blocks: tuple[str, ...]
    wordings: int = 4

    @property
    def name(self) -> str:
        """In a few words, such as "validate + ask, 4 wordings"."""
        said = " + ".join(self.blocks) or "silence"
        return f"{said}, {self.wordings} wording{'s' * (self.wordings > 1)}" if self.blocks else said

    def __call__(self, live: LiveEpisode) -> str:
        """The reply to the person's present message."""
        number = len(live.turns)
        said = (wordings(block) for block in self.blocks)
        return " ".join(filled(each[number % min(self.wordings, len(each))], live.message) for each in said)


def block_names() -> tuple[str, ...]:
    """Every block: those of `BLOCKS`, and for each family of feelings that the person feels it."""
    return (*BLOCKS, *(f"claim {family}" for family in texts().families))


def wordings(block: str) -> Sequence[str]:
    """The wordings of a block."""
    if block in BLOCKS:
        return BLOCKS[block]
    claims = texts().families[block.removeprefix("claim ")].claims
    return [frame.format(feel=feel) for frame, feel in zip(CLAIM, claims, strict=False)]


def filled(frame: str, message: str) -> str:
    """A frame with what it copies from the message."""
    return frame.format_map(_copied(message)) if "{" in frame else frame


@lru_cache(maxsize=512)
def _copied(message: str) -> dict[str, str]:
    said = dict.fromkeys(w for w in words(message) if w not in WORDS["common"] and len(w) > 3)
    rare = [*sorted(said, key=lambda w: -len(w)), "matter", "rest"]
    each = [" ".join(turned(sentence.text)) for sentence in sentences(message)] or [""]
    return {"word": rare[0], "other": rare[1], "first": each[0] + ".", "last": each[-1] + "."}
