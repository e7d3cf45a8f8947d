"""Put a reply into words: each act becomes a sentence that uses only what the person has told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from attune_data.simulate.acts import ASKING, NAMING, NEEDS, ORDER
from attune_data.simulate.grammar import Mentions, Template, capital
from attune_data.simulate.story import Echo, Story, sayable
from attune_data.simulate.texts import Said
from attune_data.simulate.typed import smoothed

FACTS: Final = frozenset({"name", "thing", "thing2", "friend", "when", "soon", "span"})
_PRONOUNS: Final = frozenset({"he", "him", "his", "she", "her"})
ANCHORS: Final = frozenset({"thing2", "when", "soon", "span", "echo", "tip", "theme", "risk"})
"""Slots that make a sentence specific to its conversation (a name alone does not), or have many fillings."""
DISPENSABLE: Final = frozenset({"cheer", "clinical", "complex", "reflect", "validate"})
"""Acts that are left out rather than put in words that would fit any conversation."""
AT_ONCE: Final = 0.8
"""Probability that the person mentioned last in the message can be a pronoun from the start of the reply."""
TRIES: Final = 4
"""How many wordings of a sentence are tried before the one that repeats least is chosen."""
FALLBACKS: Final = ("echo", "validate")
"""Acts to fall back on when a reply has nothing else to say."""
ONLY_BAD: Final = frozenset({"heat", "moral"})
"""Acts that make no sense for a pleasant message."""
PHRASES: Final = frozenset({"infer", "side", "readings", "moral", "hard"})
"""Acts worded with a phrase of the topic that is stored under the act's name."""
PRESUMING: Final = frozenset({"infer", "reason", "side", "readings"})
"""Acts whose topic phrases go beyond what the person told."""
COMMON_REASON: Final = 0.8
"""Probability that a reason is generic, and so presumes nothing about the person."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One act in words."""

    text: str
    used: frozenset[str]
    echo: Echo | None
    """The phrase of the message that it takes up."""
    claim: str | None = None
    """The family of feelings that it attributes to the person."""
    presumes: bool = False
    """Whether it goes beyond what the person told."""
    hedged: bool = False
    """Whether it is a cautious guess."""
    source: Said | None = None
    leans_on: str | None = None
    """The act whose sentence must come directly before it, because its pronouns refer to that sentence."""


@dataclass(slots=True)
class Reply:
    """A reply, and what it did."""

    plan: Said | None
    """The plan that the reply advises if it gives advice."""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Act -> sentence, in the order of the reply."""

    @property
    def text(self) -> str:
        """The sentences, joined."""
        return " ".join(sentence.text for sentence in self.sentences.values())

    @property
    def acts(self) -> set[str]:
        """Its acts."""
        return set(self.sentences)

    @property
    def claims(self) -> list[str]:
        """The families of feelings that it attributes to the person, in order."""
        return [sentence.claim for sentence in self.sentences.values() if sentence.claim]

    @property
    def used(self) -> set[str]:
        """The facts that it mentions."""
        return {fact for sentence in self.sentences.values() for fact in sentence.used}

    @property
    def echoes(self) -> bool:
        """Whether it takes up a phrase of the message."""
        return any(sentence.echo for sentence in self.sentences.values())

    @property
    def asks_before_advising(self) -> bool:
        """Whether it asks a question before it first gives advice."""
        for act in self.sentences:
            if act in ASKING:
                return True
            if act in ("advise", "generic"):
                return False
        return False


def known_to(story: Story) -> Set[str]:
    """The facts that a reply may mention: those that the person has told."""
    return (story.told & FACTS) | _PRONOUNS


def speak(
    story: Story, acts: set[str], claim: str, plan: Said | None, kept: Mapping[str, Sentence] | None = None
) -> Reply:
    """Word a reply with these acts; sentences in `kept` are kept verbatim if possible.

    In sentences that are not kept, `claim` is the family of feelings attributed to the person. An act that
    does not fit what the person told is left out.
    """
    kept = kept or {}
    speaker = _Speaker(story, claim, plan)
    unfit = set(story.situation.unfit_acts)
    named = next((s.claim for act, s in kept.items() if s.claim and act in acts), claim)
    if acts & NAMING and story.texts.families[named].sign != story.message.sign:
        unfit |= {"reason", "validate"}  # they would refer to a different feeling than the one named
    order = _order(story, [act for act in ORDER if act in acts - unfit], kept)
    taken = [kept[act].echo for act in order if act in kept]
    speaker.echoes = [echo for echo in story.message.echoes if echo not in taken]
    made = speaker.made
    for act in order:
        if act in NEEDS and not NEEDS[act] & made.keys():
            continue
        sentence = kept.get(act)
        if sentence is None or (sentence.leans_on and sentence.leans_on != next(reversed(made), None)):
            sentence = speaker.sentence(act)
        if sentence:
            made[act] = sentence
            if sentence.echo in speaker.echoes:
                speaker.echoes.remove(sentence.echo)
    for act in FALLBACKS:  # none of the acts fits what the person told
        if not made and (sentence := speaker.sentence(act)):
            made[act] = sentence
    return Reply(plan, made)


def _order(story: Story, acts: list[str], kept: Mapping[str, Sentence]) -> list[str]:
    """Order the acts, mostly as in `ORDER`; an edited reply keeps its order."""
    if kept:
        order = [act for act in kept if act in acts]
        for act in acts:
            if act not in kept:
                later = ORDER[ORDER.index(act) + 1 :]
                at = next((i for i, other in enumerate(order) if other in later), len(order))
                order.insert(at, act)
        return order
    for act, chance in (("ask_fact", 0.15), ("echo", 0.4)):
        if act in acts and story.draws.yes(chance):
            acts.remove(act)
            acts.insert(0, act)
    return acts


class _Filling(NamedTuple):
    """Details of an act that its text does not reveal."""

    source: Said | None = None
    """The question or plan; the next message may use its other half."""
    claim: str | None = None
    presumes: bool = False


class _Speaker:
    """Words the acts of one reply."""

    def __init__(self, story: Story, claim: str, plan: Said | None) -> None:
        self.story, self.claim, self.plan = story, claim, plan
        self.texts, self.draws, self.message = story.texts, story.draws, story.message
        self.known = known_to(story)
        self.good = story.message.sign > 0
        self.echoes: list[Echo] = []
        """Phrases of the message that no sentence has taken up yet."""
        self.made: dict[str, Sentence] = {}
        self.person = self.message.person if self.draws.yes(AT_ONCE) else ""
        """The person to whom a pronoun can refer."""

    def sentence(self, act: str) -> Sentence | None:
        """Put one act into words; None if it does not fit what the person told."""
        if act in ONLY_BAD and self.good:
            return None
        known = {fact: said for fact, said in self.story.reply_facts.items() if fact in self.known}
        facts = Mentions(known, pronouns=self.story.facts.pronouns)
        filling = self._fill(act, facts)
        if filling is None:
            return None
        hedged = act == "infer" and self.draws.yes(0.55)
        echo = next((e for e in self.echoes if e.moving or act == "echo" or act in ASKING), None)
        if echo:
            facts["echo"], facts.echo_names_thing = self._phrase(echo), "thing" in echo.used
            facts.echo_person = next((who for who in ("friend", "name") if who in echo.used), "")
        frames = sayable(self._frames(act, hedged, echo), facts.keys())
        if not frames or (act == "echo" and not echo):
            return None
        text, slots = self._least_repeating(frames, facts, echo)
        last = next(reversed(self.made), None)
        just = self.made[last].used if last else frozenset()
        if last and act in DISPENSABLE and _could_stand_anywhere(slots, just):
            return None
        text = smoothed(capital(text) + ("" if text[-1] == "?" else "!" if act == "cheer" else "."))
        taken_up = self.message.risk_echo if act == "risk" else echo if "echo" in slots else None
        used = frozenset(slots & FACTS) | (taken_up.used if taken_up else frozenset())
        leans_on = last if "thing" in used & just or slots & _PRONOUNS else None
        return Sentence(
            text, used, taken_up, filling.claim, filling.presumes, hedged, filling.source, leans_on
        )

    def _phrase(self, echo: Echo) -> str:
        """Word a phrase of the message as a reply takes it up."""
        facts = Mentions(self.story.reply_facts, pronouns=self.story.facts.pronouns)
        facts.person = self.person
        return echo.template.say(facts, self.draws, set())

    def _frames(self, act: str, hedged: bool, echo: Echo | None) -> Sequence[Template]:
        """The frames available for an act here."""
        replies = self.texts.replies
        if act == "infer":
            return replies["infer_hedged" if hedged else "infer_bold"]
        if act == "echo" and echo and not echo.moving:
            return replies["echo_flat"]
        good = self.texts.families[self.claim].sign > 0 if act == "claim" else self.good
        return (*replies.get(act, ()), *replies.get(f"{act}_{'good' if good else 'bad'}", ()))

    def _least_repeating(
        self, frames: Sequence[Template], facts: Mentions, echo: Echo | None
    ) -> tuple[str, set[str]]:
        """Draw wordings until one repeats no fact; after several tries, take the one that repeats least."""
        said = [sentence.used for sentence in self.made.values()]
        just, ever = said[-1] if said else frozenset(), frozenset().union(*said)
        echoed = echo.used if echo else frozenset()
        frames = self.story.unsaid(frames)
        best, slots, least, taken, person = "", set[str](), 99.0, frames[0], self.person
        for _ in range(TRIES):
            now: set[str] = set()
            facts.recent, facts.person = set(just), self.person
            frame = self.draws.pick(frames)
            text = frame.say(facts, self.draws, now)
            again = float(len(now & ever) + ("name" in now & ever) + (len(text) > 170))
            again += 3.0 * _could_stand_anywhere(now, just) + (not now & {"echo", "thing"})
            again += 3.0 * len(now & echoed) if "echo" in now else 0.0
            if again < least:
                best, slots, least, taken, person = text, now, again, frame, facts.person
            if not again:
                break
        self.story.said.add(taken.source)
        self.person = person
        return best, slots

    def _fill(self, act: str, facts: Mentions) -> _Filling | None:
        """Add what an act's frames need beside the facts; None if it does not fit what the person told."""
        draws, families, situation = self.draws, self.texts.families, self.story.situation
        if act in ("claim", "claim_second", "shift", "emote"):
            words = draws.some(families[self.claim].claims, 3)
            facts |= {"feel": words[0], "feel_b": words[1], "feel_c": words[2]}
            if act == "claim_second":
                shown = [f for f in self.message.shown if f != self.claim]
                other = shown[0] if shown else draws.pick([f for f in families if f != self.claim])
                facts["feel"] = draws.pick(families[other].claims)
                return _Filling(claim=other)
            if act == "shift":
                before = self.story.before
                if before is None or before == self.claim:
                    return None
                facts["before"] = draws.pick(families[before].claims)
                return _Filling()
            return _Filling(claim=self.claim)
        if act == "own_word":
            facts["word"] = str(self.message.named)
            return _Filling(claim=self.message.shown[0])
        if act == "reason" and draws.yes(COMMON_REASON):
            facts["because"] = draws.pick(self.texts.replies[f"because_{'good' if self.good else 'bad'}"])
        elif act == "reason" or act in PHRASES:
            name = ("because_good" if self.good else "because_bad") if act == "reason" else act
            fitting = sayable(situation.phrases[name], self.known)
            if len(fitting) < (2 if act == "readings" else 1):
                return None
            chosen = draws.some(fitting, 2)
            slot = {"reason": "because", "readings": "reading"}.get(act, act)
            facts[slot], facts["reading_b"] = chosen[0], chosen[-1]
            return _Filling(presumes=act in PRESUMING)
        elif act in ASKING:
            questions = [q for q in situation.pairs[act] if q.say.fits(self.known)]
            if not questions:
                return None
            question = self.story.fresh_pair(questions)
            facts["question"] = question.say
            return _Filling(question)
        elif act == "advise":
            if self.plan is None or not self.plan.say.fits(self.known):
                return None
            facts["plan"] = self.plan.say
            return _Filling(self.plan)
        elif act in ("risk", "safety") and self.message.risk and self.message.risk_echo:
            facts |= {"risk": self._phrase(self.message.risk_echo), "safety": self.message.risk.safety}
        elif act in ("generic", "aside", "drift"):
            lists = self.texts.lists
            facts["tip"], facts["tip_b"] = draws.some(lists["tips"], 2)
            facts["subject"], facts["theme"] = draws.pick(lists["subjects"]), draws.pick(lists["themes"])
        return _Filling()


def _could_stand_anywhere(slots: Set[str], just: Set[str]) -> bool:
    """Whether a sentence has nothing specific; names, and "it" for the thing just mentioned, do not count."""
    return not slots & ANCHORS and ("thing" not in slots or "thing" in just)
