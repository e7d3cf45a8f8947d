"""What a person would have wanted of a reply: a lay person's defaults, moved by what the message asks for.

Most people want to be read rightly and in a fitting tone, and want no sermons, clichés or repetitions.
Advice and reasons are wanted by who asks for them; acknowledgement by who feels something. English only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.feelings import Feelings, read
from attune_episodes.policies.lexicon.reading import cues, plain
from attune_rewards.predictions import YesNo

NO_ADVICE: Final = cues(r"""
    (?:no|without) advice
    (?:don't|do not|didn't) (?:need|want|ask for|have to give me) (?:any )?(?:advice|solutions?|tips|help)
    (?:just|only) (?:need(?:ed)?|want(?:ed)?|had) to (?:vent|say|tell|get|rant|talk|complain)
    not (?:asking|looking) for | rant(?:ing)? | hear me out | just listen
    say it (?:out loud|somewhere|to someone) | get (?:this|it) off my chest
""")
ADVICE: Final = cues(r"""
    what (?:should|can|could|would|do|must) (?:i|we|you) | should i | how (?:do|can|should|would) (?:i|we)
    any (?:advice|tips|ideas|suggestions) | (?:my|the|what) options | where do i | help me
    what would you | how to | advise | recommend | tips
    is it (?:a )?(?:ok|okay|good|bad|silly|wise|better|worth|safe) | which (?:is|one|would) | suggest
    decide
""")
FACTS: Final = cues(r"""
    how (?:much|many|long|far|often|does|is|are) | what (?:is|are|does|counts|happens)
    can (?:one|you|it|they|we) | is (?:it|there|that) | are (?:there|they|my)
    do(?:es)? (?:it|they|one|he|she) | question | explain | tell me | please | list
    who(?:m)? (?:do|does|should|can) | better (?:as|with)
""")
CALM: Final = cues(r"""
    calm(?: me)? down | settle (?:me|my|down) | can(?:'t|not) (?:calm|relax|sleep|breathe|settle)
    talk me down | steady | panic\w* | nerves | shak(?:ing|y) | trembl\w* | reassur\w*
""")
UNSURE: Final = cues(r"""
    i(?:'m| am) (?:not sure|unsure|torn|confused) | idk | i (?:do not|don't) (?:even )?know | no idea
    don't understand | mixed | or am i | is it (?:silly|wrong|bad|normal|me) | not sure | wonder\w*
    what (?:do|did) i | figure (?:it |this )?out | make sense of | sort (?:it |this )?out
    why (?:do|am|does|did) (?:i|it|this) | part of me | on the (?:one|other) hand
""")
COMPLAINT: Final = cues(r"""
    you (?:didn't|did not|don't|never|haven't|aren't) (?:\w+ )?(?:answer|read|listen|understand|hear|help)\w*
    i (?:already|just) (?:said|told you|asked) | i (?:asked|told) you | i said no
    that(?:'s| is|'s really) not (?:what|it|helpful|the)
    not helpful | stop (?:it|that|telling) | not what i | i did not (?:say|ask)
    i didn't (?:say|ask|mean) | you keep | robot
    again\?
""")
THANKS: Final = cues(r"""
    thank(?:s| you) | that helps? | (?:this|that) is (?:useful|helpful|good|better|what i)
    fair (?:point|enough) | you(?:'re| are) right | good (?:point|idea|question)
    i feel better | yes | love (?:that|it)
""")
RISKY: Final = cues(r"""
    chest pain | faint(?:ed|ing)? | fell asleep (?:at|behind) | at the wheel | not eaten | haven't eaten
    dizzy | hurt myself | can't breathe | black(?:ed|ing)? out
""")


@dataclass(frozen=True)
class Wish:
    """What a message asks for, in view of what was said before it."""

    message: str
    before: tuple[str, ...] = ()
    """The person's earlier messages."""

    @cached_property
    def low(self) -> str:
        """The message in plain form."""
        return plain(self.message)

    @cached_property
    def felt(self) -> Feelings:
        """The feelings read in the message."""
        return read(self.message)

    @cached_property
    def vents(self) -> bool:
        """Whether the person wants to be heard and no more, and has not asked for anything since."""
        if NO_ADVICE.search(self.low):
            return True
        return not self.asks and any(NO_ADVICE.search(plain(text)) for text in self.before)

    @cached_property
    def advice(self) -> bool:
        """Whether advice is asked for."""
        return ADVICE.search(self.low) is not None and not NO_ADVICE.search(self.low)

    @cached_property
    def facts(self) -> bool:
        """Whether information is asked for."""
        return "?" in self.message and FACTS.search(self.low) is not None

    @cached_property
    def asks(self) -> bool:
        """Whether advice or information is asked for."""
        return self.advice or self.facts

    @cached_property
    def practical(self) -> bool:
        """Whether help of a practical kind is wanted: asked for now, or earlier and details follow."""
        if self.vents:
            return False
        asked = any(Wish(text).asks for text in self.before)
        return self.asks or (asked and not self.felt.tags)

    @cached_property
    def sorts(self) -> bool:
        """Whether the person is trying to understand how they feel."""
        return not self.vents and UNSURE.search(self.low) is not None


def wished(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """What the person would have wanted, for each question."""
    wish = Wish(exchange.message, tuple(message for message, _ in exchange.history))
    feels = bool(wish.felt.tags)
    practical = wish.practical
    wanted = {
        **dict.fromkeys(("B2", "B3", "B7", "B8", "B9", "B10", "B15", "B16", "B108", "B109"), True),
        **dict.fromkeys(("B1", "B4", "B19"), feels),
        "B5": feels and bool(exchange.history),
        "B11": practical,
        "B12": practical,
        "B13": wish.sorts,
        "B17": RISKY.search(wish.low) is not None,
        "B18": RISKY.search(wish.low) is not None,
        **dict.fromkeys(("B501", "B505"), wish.sorts and not practical),
    }
    return {question: "yes" if wanted.get(question) else "no" for question in questions}
