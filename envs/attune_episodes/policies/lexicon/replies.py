"""The word lists for replies: how an assistant advises, explains, hedges, validates. English only."""

from __future__ import annotations

from typing import Final

from attune_episodes.policies.lexicon.reading import cues, vocabulary

ORDERS: Final = vocabulary("""
    try take talk write ask make keep give set choose pick put start tell let consider remember call
    telephone go use send speak leave begin plan stop avoid think focus allow save read check sleep rest
    breathe find bring hold say wait book look stay state show offer practise practice prepare schedule
    reach contact address visit join limit note list cut drop add walk eat drink heat move turn open close
    invite thank apologise apologize mention explain raise get
""")
"""Verbs that begin an instruction."""
LEADS: Final = vocabulary("""
    and so do please just maybe then but perhaps also instead first next don't never always
""")
"""Words that may stand before such a verb."""
ADVICE: Final = cues(r"""
    you (?:could|should|might|can|may|need to|ought to|will want to|would (?:be wise|do well))
    i(?:'d| would) (?:\w+ )?(?:suggest|recommend|advise)
    it (?:may|might|could|would|can|often) (?:\w+ )?(?:help|be (?:good|wise|useful|worth|best))
    (?:is|be) worth | the best thing | why not | how about | let us | let's | i recommend
    it is (?:best|wise|important) to | please (?:don't|do not|seek|consider|remember) | make sure
    options?(?: are)? | feel free | if (?:\w+ ){1,8}(?:doesn't|cannot|can't)
""")
REASONS: Final = cues(r"""
    because | since | so that | that(?:'s| is) why | which is why | which means | the reason | therefore
    means that | as a result | otherwise | in order to | due to | this helps | so it | so you | so they
""")
ACKNOWLEDGES: Final = cues(r"""
    (?:it |that |this )?(?:sounds|seems) (?:like|as|really|so|very|hard|tough|rough|exhausting)
    i (?:can )?(?:hear|see) (?:that|how|the) | no wonder
    i(?:'m| am) (?:so |really |very )?(?:sorry (?:you|to|that)|glad)
    you(?:'re| are| must be| sound| seem) (?:\w+ )?feel\w* | you sound | must (?:be|have been|feel)
    your (?:feelings|emotions|frustration|anger|sadness|worry|fear|joy|excitement|pride|guilt|nerves)
    congratulations | that(?:'s| is) (?:hard|a lot|tough|rough|not easy)
""")
VALIDATES: Final = cues(r"""
    (?:make|makes|made) (?:\w+ )?sense | understandabl[ey] | no wonder | of course | any(?:one|body) would
    natural(?:ly)? | valid | normal | (?:have|had|has) (?:every|a|good) (?:right|reason)\w*
    not (?:silly|petty|weak|stupid|strange|wrong|an? overreaction)
    nothing (?:wrong|silly|strange) (?:with|about|in) | ordinary | allowed to | who wouldn't | not easy
    be proud | that(?:'s| is) (?:hard|a lot) | human | (?:many|most) (?:people|parents)
    doesn't (?:make|sound) | isn't (?:silly|petty|weak|stupid) | earned
""")
MIXED: Final = cues(r"""
    both | mix(?:ed|ture)? | at (?:the same time|once) | part of you | and also | next to | as well as
    on top of | one (?:feeling|thing) | underneath | too | and still | but (?:still|also)
""")
CHANGED: Final = cues(r"""
    earlier | at first | than (?:when|before|at) | this (?:morning|afternoon) | since you | any ?more
    no longer | now you | (?:and|but) now | (?:you )?came in | started out | from (?:\w+ ){1,6}to
    (?:calm|stead|light)i?er | last time | has (?:changed|shifted|moved) | a moment ago
""")
INFERS: Final = cues(r"""
    perhaps | maybe | probably | likely | i wonder | i imagine | i guess | it seems
    seems? (?:to|like|as) | sounds? (?:like|as) | must (?:be|have|feel) | might be | may be | could be
    suggests? | i suspect | deep down | really about | means that you
    you (?:clearly|obviously|are afraid|fear|want to)
""")
HEDGES: Final = cues(r"""
    perhaps | maybe | i wonder | might | may | could be | seems? | sounds? | i may be wrong | i guess
    i imagine | probably
""")
MORAL: Final = cues(r"""
    unfair | (?:morally )?wrong of | immoral | selfish | ashamed of yourself
    (?:is|was) (?:not )?right of | disgrace\w* | unacceptable | deserved it | shameful
    (?:is|was) wrong(?= to)
""")
RISK: Final = cues(r"""
    risk(?:y|s)? | danger(?:ous)? | warning signs? | red flags? | unsafe | safety
    concern(?:s|ed|ing)? (?:me|about|that) | worr(?:y|ies) me
""")
EMERGENCY: Final = cues(r"""
    emergency | ambulance | doctor | hospital | 911 | 112 | 999 | helpline | urgent(?:ly)?
    seek (?:medical|immediate) (?:help|attention) | pull over | not safe
""")
HEATS: Final = cues(r"""
    devastat\w* | horrible | terrible | unbearable | disaster | catastroph\w* | dangerous
    outrage\w* | betray\w* | disrespect\w* | heartbreaking | worst | cruel | appalling | infuriating
    never forgive | damage
""")
CLINICAL: Final = cues(r"""
    symptoms? | assess(?:ed|ment)? | medical | professional | hydrat\w* | individuals?
    utili[sz]e | facilitate | strateg(?:y|ies) | regulat(?:e|ion) | cop(?:e|ing) (?:skills?|mechanisms?)
    boundar(?:y|ies) | diagnos\w* | process (?:your|these|the) | experienc(?:e|ing) (?:of|a|the)
    i would recommend | please (?:note|be|bear|seek) | in general | additional | individual
    maintain | factors | emotional (?:state|response|distress) | stressors? | triggers? | mindful\w*
    consult | resources | significant
""")
GENERIC: Final = cues(r"""
    in general | generally | as a (?:general )?(?:rule|guide) | many people | most people | everyone
    every \w+ is different | take care of yourself | be (?:gentle|kind|patient) | self-?care
    stay (?:hydrated|positive|flexible) | balanced diet | good sleep | rest well | deep breaths?
    someone you trust | remember (?:that|to) | consult | a professional | depends on
    takes? time | support (?:system|network) | journal\w*
""")
HARD: Final = cues(r"""
    hard | not easy | difficult | awkward | even if | even though | tough | scary
    if (?:that|it) (?:feels|is) too | tempting | uncomfortable | takes courage | tiring
""")
OWN_UP: Final = cues(r"""
    i (?:was|got it|got that|had it) wrong
    i (?:assumed|misread|misunderstood|missed|jumped|should have|went too)
    my (?:mistake|bad) | you (?:didn't|did not) (?:say|write|ask)
""")
REFLECTS: Final = cues(r"""
    what | which (?:part|of|one|bit) | how (?:do|did|does|would|is|was) (?:you|it|that|this) | why
    would you rather | is it | do you (?:feel|think|want)
""")
FACTS: Final = cues(r"""
    how (?:many|much|long|old|far|often|soon|well) | when (?:is|did|does|was|will)
    what (?:time|day|date|kind|is your|are the) | which (?:country|city|day|topic) | who | where
    would you like (?:me|help|to)
""")
OTHER_SIDE: Final = cues(r"""
    (?:his|her|their) (?:side|view|point of view|perspective|shoes|position)
    (?:he|she|they) (?:may|might|could|probably|perhaps) \w+ | (?:perhaps|maybe|or that) (?:he|she|they)
    what (?:do you think )?(?:he|she|they) would | from (?:his|her|their) | for (?:him|her|them), too
""")
EITHER: Final = cues(r"""
    it (?:could|may|might) be that | or that | one (?:possibility|reading|way)
    another (?:possibility|reading|explanation|way) | either | on the other hand
    several (?:reasons|ways) | or it (?:may|might|could)
""")
COMPLEX: Final = cues(r"""
    complicated | complex | many (?:factors|causes|sides) | both (?:are|can be) true | messi?er? | messy
    not simple | isn't simple | no (?:easy|simple|single) answer | tangled | layers?
""")
CHEER: Final = cues(r"""
    great news | how (?:exciting|wonderful) | what an exciting | wonderful | fantastic | awesome | yay
""")
MAKES_LIGHT: Final = cues(r"""
    don't worry | no big deal | calm down | cheer up | look on the bright side | at least | could be worse
    just relax | nothing to worry | get over | silver lining
""")
ASIDE: Final = cues(r"""
    by the way | speaking of | sleep\w* | slept | eat(?:ing)? | exercise | diet | therap\w* | counsel\w*
    childhood | hobb(?:y|ies) | friends? | self-?care | doctor | in general
    growing up | as a child
""")
THINK_ABOUT: Final = cues(r"""
    ask yourself | think about (?:what|how|why) | reflect on | notice (?:what|how|where)
    consider (?:what|how|why) | worth asking | picture (?:yourself|the) | imagine
""")
