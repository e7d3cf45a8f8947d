"""Estimate the calls and tokens of a run without making a call: `attune run … --dry-run`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from attune_data.format.schema import Conversation
from attune_env.running.jobs import calls_of
from attune_episodes.chat.completion import Usage
from attune_episodes.judging import JudgeRequest, judge_request
from attune_episodes.policies import builtin_policy
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Mode, Settings

CHARACTERS_A_TOKEN: Final = 4
"""UTF-8 bytes per token: about right for English text, an overestimate of tokens elsewhere."""
JUDGEMENT: Final = 300
"""Size of a judge's answer in bytes."""


@dataclass(frozen=True)
class Estimate:
    """The cost of one mode. Tokens are estimated; calls are exact except for re-asks and retries."""

    mode: str
    conversations: int
    calls: int
    """Usage of the evaluated model."""
    judge_calls: int
    usage: Usage
    judge_usage: Usage


def estimate(
    conversations: Sequence[Conversation],
    modes: Iterable[Mode],
    settings: Settings,
    *,
    samples: int = 1,
    judges: int = 0,
) -> list[Estimate]:
    """Estimate each mode over these conversations.

    Input tokens are estimated from the lengths of the messages, output tokens from short complete answers and
    drafts as long as the recorded replies; a reasoning model writes more.
    """
    player = builtin_policy("always-no", conversations, settings)
    found = []
    for mode in modes:
        asked = replace(settings, mode=mode)
        calls = judge_calls = 0
        usage, judged = Usage(), list[JudgeRequest]()
        for conversation in conversations:
            for request in plan(conversation, asked):
                said = player.reply(request)
                if request.stage == "draft" and (turn := conversation.turn(request.turn or 0)):
                    said += turn.llm_response
                    if judges and (
                        about := judge_request(conversation, turn.turn_number, turn.llm_response, asked)
                    ):
                        judged.append(about)
                usage += usage_of_messages(request.chat(), len(said.encode()))
            own = calls_of(conversation, asked)
            calls += own
            judge_calls += calls_of(conversation, asked, judges=judges) - own
            conversation.memo.pop("plans", None)
        taken = _times(usage, samples), judge_usage(judged, judges * samples)
        found.append(Estimate(mode, len(conversations), calls * samples, judge_calls * samples, *taken))
    return found


def judge_usage(requests: Iterable[JudgeRequest], judges: int) -> Usage:
    """The usage of `judges` judges for these requests."""
    each = (usage_of_messages(request.chat(), JUDGEMENT) for request in requests)
    return _times(sum(each, Usage()), judges)


def usage_of_messages(messages: Iterable[dict[str, str]], out: int) -> Usage:
    """The usage of a request with these messages and an answer of the given size in bytes."""
    length = sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)
    return Usage(-(-length // CHARACTERS_A_TOKEN), -(-out // CHARACTERS_A_TOKEN))


def _times(usage: Usage, number: int) -> Usage:
    return Usage(usage.tokens_in * number, usage.tokens_out * number)
