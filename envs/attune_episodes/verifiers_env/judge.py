"""`DraftJudge`: a model rates drafts, as metrics or as a small reward. Off unless it is asked for.

Prompts, parsing and averaging are those of `attune_episodes.judging`; here they only become calls.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from dataclasses import dataclass
from typing import Any, Final

import verifiers.v1 as vf
from openai import OpenAIError
from verifiers.v1.types import UserMessage

from attune_data.errors import AttuneError, one_line
from attune_episodes.judging import Judgement, JudgeRequest, combined, judge_request, parse_judgement
from attune_episodes.parsing import parse
from attune_episodes.task import Task
from attune_episodes.verifiers_env.config import DraftJudgeConfig
from attune_episodes.verifiers_env.replies import JUDGE_KEY, replies_of
from attune_episodes.verifiers_env.wire import AnyTrace
from attune_rewards.draft import binary_alignment, judge_score
from attune_rewards.predictions import Draft
from attune_rewards.truth import truth_of

PAUSE: Final = 0.5
"""Seconds before the first retry; doubled for each further one, with jitter."""
logger = logging.getLogger(__name__)


class JudgeFailedError(AttuneError):
    """A judge gave no rating, after all retries."""


class DraftJudge(vf.Judge[Judgement, DraftJudgeConfig]):
    """Rates one draft at a time."""

    @property
    def reward_name(self) -> str:
        """Name of its reward and of its calls in the trace."""
        return "draft_judge"

    async def rate(self, request: JudgeRequest, trace: AnyTrace) -> tuple[str, Judgement]:
        """The judge's text and what it says; JudgeFailedError where none could be read after all retries."""
        messages: Any = [UserMessage(content=message.content) for message in request.messages]
        problem = ""
        for attempt in range(self.config.retries + 1):
            if attempt:
                await asyncio.sleep(PAUSE * 2.0 ** min(attempt - 1, 5) * random.uniform(0.5, 1.0))
            try:
                response = await self.complete(messages, trace=trace)
            except (OpenAIError, LookupError, TypeError, ValueError) as error:  # or no choice in it
                problem = f"{type(error).__name__} {error}"
                continue
            said = parse_judgement(request, response.text)
            if isinstance(said, Judgement):
                return response.text, said
            problem = said.reason
        raise JudgeFailedError(one_line(f"{request.id}: {problem}", 500))


@dataclass(frozen=True)
class _Rated:
    """The ratings of one draft."""

    turn: int
    texts: tuple[str, ...]
    said: tuple[Judgement, ...]
    failed: int


async def rate_drafts(config: DraftJudgeConfig, task: Task, trace: AnyTrace) -> None:
    """Rates every draft of a trace and records what came of it. Never raises for a failure of the judge.

    Metrics: `draft_judge`, the mean rating in [0, 1] over the drafts that were rated; the share
    `draft_binary_alignment` of the person's wishes that the judge found in them; `judge_failed`, the share of
    ratings that failed. A draft that is empty or cannot be read counts as 0 in the first two. With a weight,
    `draft_judge` is a reward as well, unless every rating failed.
    """
    trace.record_metric("judge_failed", 1.0)  # stands where a time limit comes before the ratings
    judge = DraftJudge(config)
    silent, asked = _drafts(task, trace)
    rated = await asyncio.gather(*(_rate(judge, config.times, request, trace) for request in asked))
    scores = [0.0 for question in silent if question.dimensions]
    aligned = [0.0 for question in silent if question.questions]
    for one in rated:
        if not one.said:
            continue
        judged, here = combined(one.said), truth_of(task.conversation).turn(one.turn)
        found = judge_score(judged.scores)
        agreed = None if here is None else binary_alignment(here.preferred, judged.binary)
        scores += [] if found is None else [found]
        aligned += [] if agreed is None else [agreed]
    trace.info[JUDGE_KEY] = {
        "model": config.model,
        "replies": {str(one.turn): list(one.texts) for one in rated if one.texts},
    }
    calls = config.times * len(asked)
    trace.record_metric("judge_failed", sum(one.failed for one in rated) / calls if calls else 0.0)
    if asked and not any(one.said for one in rated):
        return  # the empty drafts alone would be a rating of something else
    if aligned:
        trace.record_metric("draft_binary_alignment", math.fsum(aligned) / len(aligned))
    if scores:
        mean = math.fsum(scores) / len(scores)
        trace.record_metric("draft_judge", mean)
        if config.weight:
            trace.record_reward("draft_judge", mean, config.weight)


def _drafts(task: Task, trace: AnyTrace) -> tuple[list[JudgeRequest], list[JudgeRequest]]:
    """What a judge would be asked of drafts that are empty or unreadable, and what it is asked of others."""
    replies = replies_of(trace, task)
    silent: list[JudgeRequest] = []
    asked: list[JudgeRequest] = []
    for request in task.requests:
        if request.stage != "draft" or request.turn is None or request.id not in replies:
            continue
        said = parse(request, replies[request.id])
        text = said.text if isinstance(said, Draft) else ""
        question = judge_request(task.conversation, request.turn, text or "-", task.settings)
        if question is None:
            continue  # nothing to judge it by
        (asked if text.strip() else silent).append(question)
    return silent, asked


async def _rate(judge: DraftJudge, times: int, request: JudgeRequest, trace: AnyTrace) -> _Rated:
    results = await asyncio.gather(*(_once(judge, request, trace) for _ in range(times)))
    got = [result for result in results if result is not None]
    texts, said = tuple(text for text, _ in got), tuple(judgement for _, judgement in got)
    return _Rated(request.turn, texts, said, times - len(got))


async def _once(judge: DraftJudge, request: JudgeRequest, trace: AnyTrace) -> tuple[str, Judgement] | None:
    try:
        return await judge.rate(request, trace)
    except JudgeFailedError as error:
        logger.warning("the draft judge failed: %s", error)
        return None
