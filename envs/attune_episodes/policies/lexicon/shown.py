"""How a feeling shows where it is not named: appraisals, body, behaviour.

Written from general knowledge of how people write about what they feel, in English. The lists are no
validated instrument and were taken from none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from attune_episodes.policies.lexicon.reading import cues

SHOWN: Final[Mapping[str, re.Pattern[str]]] = {
    "Proud": cues(r"""
        i (?:actually |really |finally )?(?:did it|made it|managed|passed|finished|won|nailed)
        i got (?:it|the job|the place|in) | all by myself | all on my own | stood up for | first try
        (?:my|the) first time ever | who'd have thought | stood up to | got accepted | my hard work
        nobody helped | i kept (?:my word|going) | (?:they|everyone) clapped | good enough after all
        🏆|🎓|🥇
    """),
    "Irritable": cues(r"""
        you (?:didn't|did not|don't|aren't|never) (?:\w+ )?(?:answer|read|listen|listening|understand|hear)\w*
        i (?:already|just) (?:said|told|wrote|explained) | i said (?:no|i) | that's not what i
        not what i asked | drives? me (?:mad|crazy|nuts) | how hard (?:is|can) | roll(?:ed|ing)? my eyes
        i snapped | snapped at | slammed | gritt(?:ed|ing) my teeth | clench\w*
        nobody (?:asked|bother(?:ed|s)|listens?) | every (?:single|bloody|damn) (?:time|day|one)
        yet again | once again | for the (?:third|fourth|fifth|tenth) time | ridiculous | unbelievable
        the nerve | so rude | typical | how dare | bothers me | gets? on my nerves
        without (?:asking|telling) me | seriously\? | as if i | useless | not fair | unfair | took credit
        late again | forgot (?:again|my|our) | ugh | argh+ | for (?:god|heaven)'s sake | nonsense
        waste of (?:my )?time | behind my back | rude | insult(?:s|ed|ing) | so much for | the cheek | 🙄|😒
    """),
    "Alert": cues(r"""
        every (?:noise|sound|creak) | keep(?:ing)? watch | can't switch off | listening for
        ready for anything | stand(?:ing)? guard | one ear open
        check(?:ed|ing)? (?:on )?(?:him|her|it|them) (?:\w+ ){0,3}times
    """),
    "Ashamed": cues(r"""
        can(?:'t|not) (?:even )?(?:look at|face|show my face) | what will (?:they|people) think
        i'm such an? | everyone (?:saw|heard|stared|laughed)
        my (?:face|cheeks|ears) (?:went|burn\w*|was|were) | turned red | blush\w*
        wanted to (?:disappear|sink|hide) | (?:grown|adult) (?:man|woman|person) | at my age
        what (?:kind|sort) of (?:\w+ )?(?:mother|father|parent|person|friend|man|woman) | 😳|🙈
        don't tell anyone | (?:doesn't|don't|does not|nobody) knows? (?:about|that|there) | idiot
        sounds (?:so )?(?:stupid|silly) | laughing.?stock | imposter|impostor | i lied
        hid (?:it|in|from) | pretended | make a fool | i'm not good enough | the only one
    """),
    "Inspired": cues(r"""
        gave me (?:an|the) idea | had (?:an|this) idea | came to me
        (?:what if|maybe) i (?:made|started|tried|built|wrote) | makes me want to | want to try | new idea
        ideas | sketch\w* | scribbl\w* | lit up
    """),
    "Nervous": cues(r"""
        what if | my (?:stomach|tummy|belly|gut) | (?:my|the) stomach | sweat(?:y|ing) | palms
        bit(?:ing|ten)? my (?:nails|lip)
        kept? (?:on )?(?:checking|looking|thinking|re-?reading|refreshing|asking|going over|waiting)
        dry mouth | re-?read(?:ing)? | go(?:ing)? (?:over|through) it (?:again|in my head)
        second.guess\w* | rehears\w* | over and over | again and again | can't eat | mess (?:it|this) up
        go(?:es)? wrong | (?:go|went|going) blank | calm (?:me |myself )?down | overthink\w*
        (?:read|looked at|checked|counted|opened) (?:\w+ ){0,4}times | 😬|😰|😟
    """),
    "Determined": cues(r"""
        i'm going to | i am going to | i will (?!not) | i've decided | i decided | no matter what
        not giving up | won't give up | from now on | get this done | let's do this | whatever it takes
        i've made up my mind | this time i | no more | bring it on | 💪|😤 | i have (?:a|my) plan
        got a plan | i refuse | i won't let | starting (?:today|tomorrow|monday|tonight)
    """),
    "Attentive": cues(r"""
        listened (?:closely|properly|carefully) | really listen\w*
        (?:actually|fully|really) (?:there|present) | pa(?:id|y|ying) attention
        noticed (?:every|each|how) | took notes | concentrat\w* | took (?:it|everything) in
    """),
    "Jittery": cues(r"""
        shak(?:e|es|ing|en) | shook(?! (?:my|his|her|their|hands)) | trembl\w*
        can(?:'t|not) (?:sit|keep|stay|hold) still | pac(?:ing|ed)
        (?:legs?|knees?|foot) (?:\w+ ){0,3}(?:bounc|jiggl)\w*
        heart (?:is |was |keeps )?(?:rac|pound|hammer|thump)\w* | fidget\w* | tapping | up and down the
        twitch\w* | can't (?:settle|relax) | hands (?:won't|wouldn't) (?:stop|stay) | jump at every
        too much coffee
    """),
    "Active": cues(r"""
        up since | cleaned the | went for a (?:run|ride|swim|walk) | couldn't sit still for joy
        got (?:so )?much done | on a roll | out of bed | moving again
    """),
    "Distressed": cues(r"""
        can(?:'t|not| not) (?:sleep|cope|think|concentrate|breathe|go on|do this|take)
        (?:couldn't|didn't|haven't) (?:sleep|slept|breathe) | too much | (?:lying|lay|lie) awake
        awake (?:all|half) | at night i | at my limit | wits' end | breaking point
        nothing (?:helps|works|worked) | no idea how | i don't know (?:what to do|how)
        losing (?:it|my mind) | sobb\w* | broke down | barely (?:eat|ate|sleep|slept|function)
        everything (?:at once|is) | can't get (?:it|that|him|her) out of my head | haven't eaten
        unbearable | crushed | inconsolable | couldn't stop crying
        (?:everything|it all) (?:hurts|is too)
    """),
    "Afraid": cues(r"""
        what (?:will|would|could) happen if
        what if (?:he|she|they|it|something|i (?:don't|do not|can't|move|lose|die))
        something (?:bad|terrible|awful|is wrong) | might (?:die|lose) | worst case | in danger
        the results | dangerous | won't wake up | (?:still )?breath(?:es|ing) | don't dare | nightmares?
    """),
    "Excited": cues(r"""
        can(?:'t|not) wait | yay+ | woo+(?: ?hoo+)? | grinn?(?:ing|ed)?
        couldn't stop (?:smiling|grinning|laughing) | finally!
        count(?:ing)? (?:down )?the (?:days|hours) | days to go | good news | guess what | omg
        danc(?:ed|ing) | jump(?:ed|ing) (?:up|around) | hugg?(?:ed|ing)? | squeal\w*
        scream(?:ed|ing) (?:with|for) joy | amazing | awesome | dream come true | so happy | at last!
        🎉|🥳|🤩|😄|😁
    """),
    "Upset": cues(r"""
        cr(?:y|ied|ying|ies) | tears? | teary | wept | welled up | wip(?:e|ed|ing) my (?:eyes|face)
        miss(?:es|ed|ing)? (?:him|her|them|you|my|it|that) | ignored | forgot (?:my|about me|our)
        (?:didn't|did not|never|hasn't|haven't) (?:even )?(?:ask|call|answer|invite|write|reply|thank)\w*
        not (?:even )?invited | lump in my throat | empt(?:y|iness) | silence | too quiet | so quiet
        passed away | died | funeral | broke up | left me | moved out | alone | without (?:him|her|them)
        ach(?:e|es|ing) | heart (?:sank|broke|heavy) | bad news | didn't get (?:it|the|in) | rejection
        nobody (?:came|noticed|called|asked|said) | wasn't even | looked (?:right )?through me | 😢|😭|💔|🥺
    """),
    "Strong": cues(r"""
        i can (?:do|handle|manage|take) (?:this|it|that) | (?:ten|\d+) feet tall | on top of the world
        i can breathe | stood my ground | said no for once | not (?:afraid|scared|nervous) any ?more
        (?:don't|do not|didn't) feel (?:guilty|afraid|scared|ashamed|nervous|bad) any ?more
        shoulders (?:\w+ )?(?:dropped|relaxed|down) | steady | steadier | calm(?:er)? | i survived
        i'm ok(?:ay)? | lighter | my voice held | kept my cool | breathe again | slept well | got through
        on my own two feet
    """),
    "Guilty": cues(r"""
        (?:it's|it is|it was|all) my fault | i should(?:n't| not)? have
        i (?:shouted|yelled|screamed|snapped|swore)
        let (?:him|her|them|everyone|everybody|the team) down | if (?:only )?i (?:had|hadn't) | if i'd
        i (?:never|didn't) (?:call|visit|tell|say|thank|apologi[sz])\w* | apologi[sz]e
        i(?:'m| am) sorry (?:i|that i|for) | i promised
        i (?:forgot|lied|missed (?:his|her|their)|broke|ruined) | blam(?:e|ing) myself | my conscience
        selfish
        (?:bad|terrible|awful) (?:mother|father|parent|son|daughter|friend|person|sister|brother|boss)
        because of me | i(?: had to)? (?:fired|fire|cheated|betrayed|let (?:\w+ )?go)
        owe (?:him|her|them) an apology | i was (?:too )?(?:harsh|mean|unfair|cold)
        take (?:it|that) back | trusted me | make it up to
    """),
    "Scared": cues(r"""
        froze | frozen with | my heart stopped | jumped out of my skin | woke up screaming | panic attack
        blood ran cold | couldn't move | 😱|😨
    """),
    "Hostile": cues(r"""
        shut up | leave me alone | back off | knock it off | go to hell | screw (?:him|her|them|you|this)
        i'll show (?:him|her|them) | get (?:my own )?back at
        (?:want|wanted|like) to (?:punch|slap|hit|strangle|scream at|throw|smash)
        serves? (?:him|her|them) right | never forgive | has it coming
        give (?:him|her|them) a piece of my mind | 😡|🤬 | you're a (?:machine|robot|bot)
        (?:a|the|some) (?:stupid )?(?:robot|bot) | revenge | liar | stop (?:it|telling me|that)
        who do you think you are
    """),
    "Enthusiastic": cues(r"""
        i love (?:it|this|that|how|the) | glad | happy | told every(?:one|body) | signed up | great idea
        can't stop (?:talking|thinking) about how | let's (?:go|do) | brilliant | fantastic | wonderful
        looking forward | so much fun | i laughed | laughed so | we laughed
        already (?:bought|booked|picked|ordered|set|made) | hooray | best day
    """),
    "Interested": cues(r"""
        i did(?:n't| not) know | never knew | i wonder(?:ed)? | tell me more | looked it up | makes sense
        how does (?:that|it|this) work | cool | is it true that | (?:that|this) is (?:useful|helpful|new)
        want to know more | learn(?:ed|t|ing)? | discover\w* | found out | ooh? | huh | never thought of
    """),
}
"""PANAS item -> what people write who feel it: appraisals, body, behaviour."""
