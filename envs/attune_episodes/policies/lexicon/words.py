"""How people name a feeling: word lists, written from general knowledge of English; no instrument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from attune_episodes.policies.lexicon.reading import cues

NAMED: Final[Mapping[str, re.Pattern[str]]] = {
    "Proud": cues(r"proud(?:ly|er)? | pride"),
    "Irritable": cues(r"""
        irritat(?:ed|ing|es|ion) | irritable | annoy(?:ed|ing|s) | cross | grumpy | frustrat(?:ed|ing|ion)
        angry | anger | mad(?= at| about) | pissed(?: off)? | wound up | fed up | sick of | exasperated
        aggravat(?:ed|ing) | infuriating | resent(?:ful|ment)? | bitter | impatient
    """),
    "Alert": cues(r"alert | vigilant | wide awake | on guard"),
    "Ashamed": cues(r"""
        ashamed | shame(?:ful)? | embarrass(?:ed|ing|ment) | humiliat(?:ed|ing|ion) | mortified | pathetic
        foolish | inadequate | a failure | worthless | cringe | feel (?:so )?(?:stupid|silly|small|dumb)
    """),
    "Inspired": cues(r"inspir(?:ed|ing|ation) | moved by"),
    "Nervous": cues(r"""
        nervous(?:ly)? | nerves | anxious | anxiety | worr(?:y|ied|ies|ying) | uneasy | dread(?:ing|ed)?
        apprehensive | stress(?:ed|ful)? | tense | butterflies | insecure | unsettled
    """),
    "Determined": cues(r"determined | determination | resolved | set on | motivated | committed"),
    "Attentive": cues(r"attentive | focus(?:ed|sed) | concentrated | present in"),
    "Jittery": cues(r"""
        jitter(?:y|s) | restless | on edge | jumpy | fidgety | shaky | twitchy | antsy | keyed up | wired
    """),
    "Active": cues(r"energetic | energi[sz]ed | full of energy | active"),
    "Distressed": cues(r"""
        distress(?:ed|ing) | overwhelm(?:ed|ing) | desperate | despair | devastated | miserable | in bits
        falling apart | hopeless | helpless | exhausted | drained | burn(?:ed|t) out | frantic | anguish
        a wreck | a mess
    """),
    "Afraid": cues(r"afraid | fear(?:s|ful|ed)? | fearing"),
    "Excited": cues(r"""
        excit(?:ed|ing|ement) | thrill(?:ed|ing) | over the moon | ecstatic | buzzing | giddy | elated
    """),
    "Upset": cues(r"""
        upset(?:ting)? | sad(?:ness)? | hurt(?:s|ing)? | heartbroken | disappoint(?:ed|ing|ment)
        let down | lonely | loneliness | unhappy | gutted | grie(?:f|ving) | low | stings? | homesick
        left out | rejected | sore about | down lately
    """),
    "Strong": cues(r"""
        strong(?:er)? | capable | confident | in control | unstoppable | resilient | brave
    """),
    "Guilty": cues(r"""
        guilt(?:y|ily)? | remorse | regret(?:s|ted)? | feel (?:so |really )?(?:bad|terrible) (?:for|about)
    """),
    "Scared": cues(r"""
        scar(?:ed|y) | terrif(?:ied|ying) | frighten(?:ed|ing) | petrified | panic(?:ked|king|ky)?
    """),
    "Hostile": cues(r"""
        hostile | furious | livid | rage | raging | hate(?:s|d)? | despise | loathe | contempt
    """),
    "Enthusiastic": cues(r"enthusias(?:tic|m) | keen | eager | delighted | joy(?:ful)? | overjoyed"),
    "Interested": cues(r"""
        interest(?:ed|ing) | curious | curiosity | fascinat(?:ed|ing) | intrigu(?:ed|ing)
    """),
}
"""PANAS item -> the words with which people name it."""

FEELING_TALK: Final = cues(r"""
    feel(?:s|ing|ings)? | felt | emotion\w* | heart | happy | happiness | glad | sorry | pain(?:ful)?
    sore | hard | tough | heavy | relie(?:f|ved) | calm(?:er)? | stead(?:y|ier) | tired | tiring | lost
    weigh(?:s|ing)? | bother(?:s|ing)? | miss(?:ing)? | care | love | tender | ache | warm | laugh\w*
    nerve-?wracking | set on | rough | ouch
""")
"""Words about feelings at large, which name no one PANAS item."""
