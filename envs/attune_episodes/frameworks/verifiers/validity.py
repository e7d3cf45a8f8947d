"""Check whether a task is valid, for `vf-validate`."""

from __future__ import annotations

from itertools import zip_longest
from math import isclose

from attune_data.errors import show
from attune_episodes.frameworks.verifiers.traces import AttuneData
from attune_episodes.play.rollout import rollout
from attune_episodes.play.task import Task
from attune_episodes.policies import builtin_policy
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.unanswered import unanswered


def problem_of(data: AttuneData) -> str | None:
    """The fault of a task; None if it has none."""
    return _leak(data.task) or _other_prompt(data, data.task) or _oracle(data.task)


def _leak(task: Task) -> str | None:
    """Find a request that changes when all annotated answers are removed from the record.

    This is stricter than searching the text for the answers: anything that a prompt takes from an answer,
    even its presence or its length, would change it.
    """
    planned = plan(task.conversation, task.settings)
    blank = plan(unanswered(task.conversation), task.settings)
    changed = [one or other for one, other in zip_longest(planned, blank) if one != other]
    return f"{changed[0].id} depends on an annotated answer" if changed else None


def _other_prompt(data: AttuneData, task: Task) -> str | None:
    """Find a stored prompt that differs from the plan's."""
    if task.only is None:
        return None
    (request,) = task.requests
    carried = data.prompt if isinstance(data.prompt, list) else []
    shown = [("system", data.system_prompt), *((one.role, one.content) for one in carried)]
    planned = [(message.role, message.content) for message in request.messages]
    return None if shown == planned else f"the prompt of {request.id} differs from the plan's"


def _oracle(task: Task) -> str | None:
    """Find a request for which the annotations' own answers do not earn the full reward."""
    oracle = builtin_policy("oracle", [task.conversation], task.settings)
    for step in rollout(task.conversation, oracle, task.settings, task.spec).steps:
        value = step.score.value
        if task.only in (None, step.request.id) and value is not None and not isclose(value, 1, rel_tol=1e-9):
            short = {part: score for part, score in step.score.parts.items() if score != 1}
            return f"the annotations' own answers to {step.request.id} earn {value}, {show(short)}"
    return None
