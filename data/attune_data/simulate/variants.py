"""The three replies to a message: the recorded one, the model's improvement, the person's edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attune_data.constants import ResponseName
from attune_data.simulate import acts as actions
from attune_data.simulate.constructs import rightness
from attune_data.simulate.replies import Reply, known_to, speak
from attune_data.simulate.story import Story
from attune_data.simulate.texts import Said

STRIKES: Final = 0.97
"""Probability that a person who edits a reply deletes wrong claims about their feelings."""


def variants(story: Story, wish: Mapping[str, float]) -> dict[ResponseName, Reply]:
    """Make the three replies: the recorded one, the model's improvement, the person's edit of the first."""
    draws, claim = story.draws, _reading(story)
    first = actions.original(story)
    plan = plan_for(story)
    original = speak(story, first, claim, plan)
    second = actions.improved(original.acts, story)
    other = claim if draws.yes(0.65) else _reading(story)
    improved = speak(story, second, other, plan if draws.yes(0.35) else plan_for(story))
    return {"original": original, "alternate": improved, "human": edit(story, original, improved, wish)}


def edit(story: Story, original: Reply, improved: Reply, wish: Mapping[str, float]) -> Reply:
    """Edit a reply as the person would: wrong claims are removed, and the claims they add are true.

    Something always changes: if nothing is unwanted, sentences are reworded.
    """
    draws = story.draws
    strikes = draws.yes(STRIKES)
    kept = {
        act: sentence
        for act, sentence in original.sentences.items()
        if not (strikes and sentence.claim and rightness(story, sentence.claim) < 0)
    }
    acts = actions.edited(kept, wish, story)
    while True:
        made = speak(story, acts, story.mood.family, original.plan, kept)
        if made.text not in (original.text, improved.text):
            return made
        if kept:
            kept.popitem()
        else:
            acts = actions.edited(acts ^ {draws.pick(actions.ORDER)}, wish, story)


def _reading(story: Story) -> str:
    """Draw the family of feelings that a model reads: mostly the one that shows, but often a wrong one."""
    draws, shown, families = story.draws, story.message.shown, story.texts.families
    if shown and draws.yes(0.66):
        return shown[0]
    sign = families[shown[0]].sign if shown else story.mood.sign
    if draws.yes(0.78):
        return draws.pick([name for name, family in families.items() if family.sign == sign])
    return draws.pick(list(families))


def plan_for(story: Story) -> Said | None:
    """Choose a plan to advise, occasionally one that was advised before."""
    again = [plan for plan in story.plans[:-1] if plan not in story.done]
    if again and story.draws.yes(0.25):
        return story.draws.pick(again)
    known = known_to(story)
    plans = [p for p in story.situation.pairs["plans"] if p.say.fits(known) and p not in story.plans]
    return story.draws.pick(plans) if plans else None
