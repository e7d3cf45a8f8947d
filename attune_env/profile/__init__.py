"""Experimental: guess from a conversation alone what its participant stated about themselves.

It is off by default and not a stage of the protocol; only `attune profile` runs it. There is no reward for
it, because nothing here should train a model to guess who people are. `WARNING` says what it may be used for.
"""

from typing import Final

WARNING: Final = (
    "Experimental. This lets a model, or a constant, guess from a conversation who somebody is: "
    "demographics, traits, questionnaire scores and diagnoses.",
    "It may be used for research on what conversations give away (to measure a privacy risk, say), on data "
    "of people who agreed to such research.",
    "It may not be used to diagnose, screen, target, rank, hire, insure, admit, price or police anybody, nor "
    "to guess these things of people who did not agree.",
    "The truth here is what people stated of themselves: a stated diagnosis is no clinical one, and a score "
    "at a screening cut is no diagnosis.",
    "A guess about one person is mostly what is common in a group. A gain over the baseline is a mean over "
    "many people and makes no single guess reliable.",
    "Profiles of invented people are a program's or an author's: results on them say nothing about real "
    "people.",
)
"""Items of one or two sentences each, without line breaks."""
