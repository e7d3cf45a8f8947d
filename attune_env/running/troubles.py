"""Count the troubles of a run's answers by reason, each with advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from attune_env.running.journal import Finished
from attune_episodes.chat.finish import verdict
from attune_rewards.reward.score import OK

MOST: Final = 0.5
"""A run goes wrong if more than this share of a model's answers fails for one reason."""
IN_THE_END: Final = 10
"""It also does if so many of a model's last answers fail for one reason, as after an outage."""
_BUDGET: Final = "is --max-tokens too small?"
_MARKS: Final = (
    "if the reasoning is part of the text, have the server separate it (vLLM, SGLang: --reasoning-parser)"
)
BLANK: Final[Mapping[str, str]] = {
    "empty": _BUDGET,
    "cut off": _BUDGET,
    "cut off while reasoning": (
        "raise --max-tokens, or let the model reason less, for example with --extra-body "
        """'{"reasoning_effort": "low"}'"""
    ),
    "only in the reasoning field": (
        "the server takes the whole text for reasoning: start it without its reasoning parser (vLLM, SGLang: "
        "--reasoning-parser), or switch reasoning off, for example with --extra-body "
        """'{"chat_template_kwargs": {"enable_thinking": false}}'"""
    ),
    "only in tool_calls": (
        "the server takes the text for a tool call: start it without its tool parser (vLLM: "
        "--enable-auto-tool-choice, --tool-call-parser)"
    ),
}
"""Trouble with answers that have no text, or no end, and what to do."""
ADVICE: Final[Mapping[str, str]] = {
    **BLANK,
    "refused": "read some of them with `attune view`; a filter of the provider may be adjustable",
    "unparsed:ambiguous": _MARKS,
    "unparsed:unfinished_reasoning": f"{_BUDGET[:-1]}, or the end of the reasoning unmarked? {_MARKS}",
    "unparsed:truncated": _BUDGET,
}
OTHERS: Final = "docs/protocol.md says what can be read; the replies are in the result files"
"""The advice after a run for unreadable answers without advice of their own."""


def trouble_of(call: Finished, *, plain: bool, finish_ok: Collection[str] = ()) -> str:
    """Why an answer does not count, in a few words; "" if it does."""
    kind = verdict(call.finish, plain=plain, readable=call.reason == OK, finish_ok=finish_ok)
    if kind in ("answer", "refused"):
        return kind.removeprefix("answer")
    blank = not call.reply.strip()
    if kind == "cut":
        return "cut off while reasoning" if blank and call.reasoning.strip() else "cut off"
    if call.text_in:
        return "only in tool_calls" if call.text_in == "tool_calls" else "only in the reasoning field"
    return "empty" if blank else call.reason


def main_trouble(
    counted: Mapping[str, Counter[str]],
    last: Mapping[str, tuple[str, int]] | None = None,
    others: str = OTHERS,
) -> str | None:
    """The trouble of most answers of a model, or of all its last ones, with advice; None if there is none.

    `counted` is, for each model, reason -> number of answers, where the reason "" means that they count;
    `last` is the reason of its last answer, and how many answers in a row end with it; `others` is the advice
    for reasons without one of their own.
    """
    for model, reasons in counted.items():
        tail, row = (last or {}).get(model, ("", 0))
        for reason, number in reasons.items():
            if reason and number > MOST * reasons.total():
                found = f"{number} of {reasons.total()} answers"
            elif reason and reason == tail and row >= IN_THE_END:
                found = f"the last {row} of {reasons.total()} answers"
            else:
                continue
            return f"{found} of {model} fail for one reason: {reason}; {ADVICE.get(reason, others)}"
    return None


def mixed_trouble(counted: Mapping[str, Counter[str]], others: str = OTHERS) -> str | None:
    """Say that most answers of a model do not count, and why; None if there is no such model."""
    for model, reasons in counted.items():
        lost = reasons.total() - reasons[""]
        if lost > MOST * reasons.total():
            most_first = sorted((-number, reason) for reason, number in reasons.items() if reason)
            why = ", ".join(f"{reason} {-number}" for number, reason in most_first)
            return f"{lost} of {reasons.total()} answers of {model} could not be read: {why}; {others}"
    return None
