"""The optional draft judge: another model rates a draft and answers the turn's yes/no questions about it.

One call per turn and judge. What judges say is reported beside the Composite and never part of it.
"""

from attune_episodes.judging.combine import add_judgements, combined, with_judgements
from attune_episodes.judging.reader import EndpointReader
from attune_episodes.judging.request import (
    Judgement,
    JudgeRequest,
    judge_request,
    parse_judgement,
    question_about,
    reference_of,
)

__all__ = [
    "EndpointReader",
    "JudgeRequest",
    "Judgement",
    "add_judgements",
    "combined",
    "judge_request",
    "parse_judgement",
    "question_about",
    "reference_of",
    "with_judgements",
]
