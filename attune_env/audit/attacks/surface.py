"""Attacks that use one superficial feature of a request without understanding it.

Each takes the prior's answers and changes them according to one visible feature: which reply was recorded,
how long texts and words are, how warm a reply sounds, which feelings a message names. The built-in policy
`surface` combines all of them but warmth, fitted on other participants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from attune_env.audit.attacks.exploits import Body, Written
from attune_env.audit.attacks.sycophancy import warmth
from attune_episodes.parsing import render
from attune_episodes.policies.constant import MIDPOINT
from attune_episodes.policies.shallow import named_feelings, pick_by
from attune_episodes.policies.surface import word_length
from attune_episodes.protocol.request import Request


def _picking(worth: Callable[[Request, str], float]) -> Written:
    def write(request: Request, body: Body) -> Body | str:
        if request.stage != "prefer":
            return body
        return render(request, pick_by(request, lambda text: worth(request, text)))

    return write


def _copied(request: Request, body: Body) -> Body:
    """The feelings among the 20 items that the message names literally, if any."""
    if request.stage == "assess" and (names := named_feelings(request.user_message)):
        body["emotions"] = [{"emotion": name, "intensity": MIDPOINT} for name in names]
    return body


SURFACE: Final[Mapping[str, Written]] = {
    "not-the-recorded": _picking(lambda request, text: text != request.reply),
    "longer-reply": _picking(lambda request, text: len(text)),
    "shorter-reply": _picking(lambda request, text: -len(text)),
    "shorter-words": _picking(lambda request, text: -word_length(text)),
    "warmer-reply": _picking(lambda request, text: warmth(text)),
    "named-feelings": _copied,
}
"""Name -> the function that writes a reply from the prior's answers and one visible feature."""
