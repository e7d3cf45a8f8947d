"""What is asked: messages and schemas of every request, what each stage may see, and what is shown masked."""

from __future__ import annotations

from dataclasses import astuple, fields, replace
from typing import Any

from attune_data import Conversation, load
from attune_env.profile.request import profile_request
from attune_env.testing import filler
from attune_episodes import Request, Settings, plan
from attune_episodes.judging import judge_request
from attune_episodes.protocol.prompts import PromptSet
from attune_episodes.protocol.settings import LABELS
from attune_rewards.truth import truth_of
from tests.frozen.keeping import digest, plain
from tests.play.builders import (
    BACKGROUND,
    EVERY_SETTING,
    NEVER,
    PRE_TOTALS,
    conversation,
    setting_id,
    turn,
)

Json = dict[str, Any]
VARIANTS = {
    "default": Settings(),
    "compact": Settings(prompts="compact"),
    "verbose, delta": Settings(mode="verbose", panas_strategy="delta"),
    "omniscient, official": Settings(mode="omniscient", labels="official"),
    "verbose_omniscient, compact, blind_delta": Settings(
        mode="verbose_omniscient", prompts="compact", panas_strategy="blind_delta"
    ),
    "seed 3, prefer": Settings(seed=3, stages=("prefer",)),
    "assess_hp, reflect": Settings(stages=("assess_hp", "reflect"), panas_strategy="delta"),
}
"""Every value of every setting stands in one of them; all products stand in `every_setting`."""
MARKED = conversation(turn(1), turn(2), turn(3))
MARKERS = (*(f"{kind}-{n}" for n in (1, 2, 3) for kind in ("MSG", "OM", "ALT", "HUM")), *BACKGROUND, *NEVER)


def prompts() -> Json:
    """Hashes of the messages and of the schema of each request."""
    sample = load("sample")
    some = (sample[0], *filler(1, seed=2), MARKED)
    return {
        "fingerprints": {
            name: [PromptSet.named(name).fingerprint, PromptSet.named(name).judge_fingerprint]
            for name in ("full", "compact")
        },
        "requests": {
            name: {about.conversation_id: _requests(about, settings) for about in sample}
            for name, settings in VARIANTS.items()
        },
        "every_setting": {
            setting_id(settings): {
                about.conversation_id: digest(_requests(about, settings)) for about in some
            }
            for settings in EVERY_SETTING
        },
        "judge": {about.conversation_id: _judged(about) for about in (*sample, MARKED)},
        "profile": {
            about.conversation_id: [digest(asked.chat()), digest(asked.schema)]
            for about in sample
            for asked in [profile_request(about)]
        },
    }


def _requests(about: Conversation, settings: Settings) -> Json:
    return {
        asked.id.split("/", 1)[1]: f"{len(asked.messages)} {digest(asked.chat())} {digest(asked.schema)}"
        for asked in plan(about, settings)
    }


def _judged(about: Conversation) -> list[str | None]:
    asked = [judge_request(about, one.turn_number, "A draft.") for one in about.turns]
    return [None if one is None else f"{digest(one.chat())} {digest(one.schema)}" for one in asked]


def masking() -> Json:
    """Which marked texts each stage sees, in which fields, and how responses are labelled and ordered."""
    sample = load("sample")
    return {
        "visible": {setting_id(settings): _visible(settings) for settings in EVERY_SETTING},
        "shown": {
            f"{labels}, seed {seed}": {about.conversation_id: _shown(about, labels, seed) for about in sample}
            for labels in LABELS
            for seed in ((0, 1) if labels == "masked" else (0,))
        },
        "plan": {
            about.conversation_id: " ".join(request.id.split("/", 1)[1] for request in plan(about))
            for about in (*sample, *filler(5, seed=5, holes=0.2))
        },
        "truth": {about.conversation_id: _truth(about) for about in sample},
    }


def _visible(settings: Settings) -> Json:
    """Of turn 2 of 3 and of the end: texts in the messages, and the fields that hold anything."""
    found: Json = {}
    for request in plan(MARKED, settings):
        if request.turn in (2, None):
            said = "\n".join(message["content"] for message in request.messages)
            totals = [str(total) for total in PRE_TOTALS if str(total) in said]
            found[request.stage] = {
                "texts": " ".join([*(marker for marker in MARKERS if marker in said), *totals]),
                "fields": " ".join(_filled(request)),
            }
    return found


def _filled(request: Request) -> list[str]:
    """The fields that are not empty, each with a hash of what it holds."""
    handed = replace(request, messages=())
    values = {field.name: getattr(handed, field.name) for field in fields(handed)}
    values["comparisons"] = [astuple(one) for one in request.comparisons]
    return [f"{name}:{digest(value, 6)}" for name, value in values.items() if value]


def _shown(about: Conversation, labels: Any, seed: int) -> Json:
    """`X=human Y=original; 2 0* 1`: labels, then the conversation's comparisons as shown, * swapped."""
    return {
        str(request.turn): " ".join(f"{label}={name}" for label, name in request.shown_labels.items())
        + "; "
        + " ".join(f"{c.index}{'*' if c.swapped else ''}" for c in request.comparisons)
        for request in plan(about, Settings(labels=labels, seed=seed, stages=("prefer",)))
    }


def _truth(about: Conversation) -> str:
    """What scoring reads of the annotations: a hash a turn, and one of the end."""
    truth = truth_of(about)
    turns = [
        [None if one.tags is None else [(tag.emotion, tag.intensity) for tag in one.tags], one.observed,
         one.preferred, one.winners, one.applicable, one.has_judgements, dict(one.responses)]
        for one in truth.turns
    ]  # fmt: skip
    end = [truth.pre, truth.post, truth.pre_totals, truth.post_totals, truth.q1, truth.q2, truth.q3,
           truth.q3_follow_up, truth.branches]  # fmt: skip
    return " ".join(digest(plain(part), 6) for part in (*turns, end))
