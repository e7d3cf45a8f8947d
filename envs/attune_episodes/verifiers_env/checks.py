"""The checks of `Task.validate`: the oracle earns 1, and no prompt depends on an annotated answer."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from attune_data.errors import show
from attune_episodes.plan import plan
from attune_episodes.policies import builtin_policy
from attune_episodes.rollout import rollout
from attune_episodes.task import Task
from attune_episodes.unanswered import unanswered
from attune_episodes.verifiers_env.tasks import AttuneData

EXACT: Final = 1e-9


def problem_of(data: AttuneData) -> str | None:
    """The fault of a task, in one line; None if it has none."""
    data.check_prompts()
    task = data.task
    return _leak(task) or _prompt(data, task) or _oracle(task)


def _leak(task: Task) -> str | None:
    """A request that changes when all annotated answers are taken out of the record.

    This is stronger than looking for the answers in the text: whatever a prompt takes from an answer, be it
    its presence or its length, would make it another one.
    """
    planned = plan(task.conversation, task.settings)
    blank = plan(unanswered(task.conversation), task.settings)
    for request, other in zip_longest(planned, blank):
        if request != other:
            return f"{(request or other).id} depends on an annotated answer"
    return None


def _prompt(data: AttuneData, task: Task) -> str | None:
    """A prompt that is carried and is not the one of the plan."""
    if task.only is None:
        return None
    (request,) = task.requests
    carried = data.prompt if isinstance(data.prompt, list) else []
    shown = [("system", data.system_prompt), *((one.role, one.content) for one in carried)]
    planned = [(message.role, message.content) for message in request.messages]
    return None if shown == planned else f"the prompt of {request.id} is not the one of the plan"


def _oracle(task: Task) -> str | None:
    oracle = builtin_policy("oracle", [task.conversation], task.settings)
    for step in rollout(task.conversation, oracle, task.settings, task.spec).steps:
        value = step.score.value
        if task.only in (None, step.request.id) and value is not None and abs(value - 1) > EXACT:
            short = {part: score for part, score in step.score.parts.items() if abs(score - 1) > EXACT}
            return f"the annotations' own answers to {step.request.id} earn {value}, {show(short)}"
    return None
