"""`DraftJudge`: let a model rate drafts, as metrics or as a small reward. Off by default.

Prompts, parsing and averaging come from `attune_episodes.judging`; this module only makes the calls.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import verifiers.v1 as vf
from openai import OpenAIError
from verifiers.v1.types import UserMessage

from attune_data.selection.means import mean
from attune_episodes.frameworks.verifiers.arguments import DraftJudgeConfig
from attune_episodes.frameworks.verifiers.logs import JUDGE_KEY
from attune_episodes.frameworks.verifiers.traces import AnyTrace, replies_of
from attune_episodes.judging import Judgement, JudgeRequest, judge_request, parse_judgement
from attune_episodes.parsing import parse, sound
from attune_episodes.play.asking import Asking, pause
from attune_episodes.play.task import Task
from attune_rewards.metrics.draft import binary_alignment, judge_score
from attune_rewards.predictions import Draft
from attune_rewards.truth import truth_of

PAUSE: Final = 0.5
"""Seconds before the first retry."""
logger = logging.getLogger(__name__)


class DraftJudge(vf.Judge[Judgement, DraftJudgeConfig]):
    """A judge that rates one draft at a time."""

    @property
    def reward_name(self) -> str:
        """The name of its reward and of its calls in the trace."""
        return "draft_judge"

    async def rate(self, request: JudgeRequest, trace: AnyTrace) -> tuple[str, Judgement] | None:
        """The judge's text and the parsed judgement; None if none could be read after all retries."""
        messages: Any = [UserMessage(content=message.content) for message in request.messages]
        asking = Asking(request, parse_judgement, self.config.retries + 1)
        problem = ""
        for ask in asking:
            if ask > 1:
                await asyncio.sleep(pause(ask - 1, PAUSE))
            try:
                asking.take((await self.complete(messages, trace=trace)).text)
                problem = asking.status
            except (
                OpenAIError,
                LookupError,
                TypeError,
                ValueError,
            ) as error:  # or a response without a choice
                asking.take("")
                problem = f"{type(error).__name__} {error}"
        if isinstance(asking.outcome, Judgement):
            return asking.text, asking.outcome
        logger.warning("the draft judge failed: %s: %s", request.id, problem)
        return None


async def rate_drafts(config: DraftJudgeConfig, task: Task, trace: AnyTrace) -> None:
    """Rate every draft of a trace and record the outcome. Never raises for a failure of the judge.

    Metrics: `draft_judge`, the mean rating in [0, 1] over the drafts that were rated; the share
    `draft_binary_alignment` of the person's wishes that the judge found in them; `judge_failed`, the share of
    ratings that failed. A draft that is empty or cannot be read counts as 0 in the first two. With a weight,
    `draft_judge` is a reward as well, unless every rating failed.
    """
    trace.record_metric("judge_failed", 1.0)  # the value if a time limit ends the rating
    judge = DraftJudge(config)
    silent, asked = _drafts(task, trace)
    rated = await asyncio.gather(*(judge.rate(request, trace) for request in asked))
    found = {request.turn: one for request, one in zip(asked, rated, strict=True) if one is not None}
    scores: list[float | None] = [0.0 for question in silent if question.dimensions]
    aligned: list[float | None] = [0.0 for question in silent if question.questions]
    for turn, (_, said) in found.items():
        here = truth_of(task.conversation).turn(turn)
        scores.append(judge_score(said.scores))
        aligned.append(None if here is None else binary_alignment(here.preferred, said.answers or None))
    trace.info[JUDGE_KEY] = {
        "model": config.model,
        "replies": {str(turn): text for turn, (text, _) in found.items()},
    }
    trace.record_metric("judge_failed", 1 - len(found) / len(asked) if asked else 0.0)
    if asked and not found:
        return  # a rating of the empty drafts alone would be misleading
    if (value := mean(aligned)) is not None:
        trace.record_metric("draft_binary_alignment", value)
    if (value := mean(scores)) is not None:
        trace.record_metric("draft_judge", value)
        if config.weight:
            trace.record_reward("draft_judge", value, config.weight)


def _drafts(task: Task, trace: AnyTrace) -> tuple[list[JudgeRequest], list[JudgeRequest]]:
    """The judge's requests for drafts that are empty or unreadable, and for all others."""
    replies = replies_of(trace, task)
    silent: list[JudgeRequest] = []
    asked: list[JudgeRequest] = []
    for request in task.requests:
        if request.stage == "draft" and request.turn is not None and request.id in replies:
            said = parse(request, sound(replies[request.id]))
            text = said.text if isinstance(said, Draft) else ""
            question = judge_request(task.conversation, request.turn, text or "-", task.settings)
            if question is not None:  # otherwise there is nothing to judge it by
                (asked if text.strip() else silent).append(question)
    return silent, asked
