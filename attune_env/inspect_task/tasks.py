# inspect-evals-lint: ignore-file[IECQ004] -- attune_data and attune_episodes are part of this distribution
"""The task `attune` of Inspect, its solver and its scorer."""

from __future__ import annotations

from attune_data.extras import needs_extra
from attune_episodes.frameworks.inspect.arguments import Text, names_in
from attune_episodes.frameworks.inspect.scores import score_replies
from attune_episodes.frameworks.inspect.tasks import CLUSTER, task_of

with needs_extra("inspect", "inspect_ai"):
    from inspect_ai import Task, task
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from attune_episodes.frameworks.inspect.run import ask_all, make_task


@task
def attune(
    data: Text = "sample",
    mode: str = "default",
    stages: Text | None = None,
    where: Text | None = None,
    number: int | None = None,
    split: str | None = None,
    provenance: str | None = None,
    panas_strategy: str = "absolute",
    labels: str = "masked",
    seed: int = 0,
    prompts: Text = "full",
    codebook: Text | None = None,
    reasks: int = 2,
    parallel: int | None = None,
    structured: bool = False,
    finish_ok: Text | None = None,
) -> Task:
    """AttuneBench: one sample per conversation, every request of its plan asked, scored like `attune score`.

    Args:
        data: "sample" (20 bundled conversations), "written", a file or folder, or a dataset's name.
        mode: default, verbose, omniscient or verbose_omniscient.
        stages: what is asked, such as `assess,prefer,reflect`; all five by default.
        where: only conversations that fulfil this, such as `diagnosis=ADHD,who_5<13`.
        number: only the first N conversations.
        split: one split of a dataset that has several.
        provenance: provenance of records without a mark.
        panas_strategy: absolute, delta or blind_delta.
        labels: names of the compared responses: masked or official.
        seed: draws labels, sides and order of comparisons.
        prompts: full, compact, or a folder of templates.
        codebook: an official annotation_codebook.json; by default the one beside the data, or else our
            wording.
        reasks: how often a request is asked again when its reply cannot be read.
        parallel: the most requests of a conversation at once; by default as many as Inspect lets out.
        structured: hold answers to their JSON schema, where Inspect's provider can.
        finish_ok: finish reasons that count as the model's own end, as of `attune run --finish-ok`.

    Raises an AttuneError if the arguments or the data are wrong; Inspect's command line shows its message.
    """
    return make_task(dict(locals()), walk_plan, attune_scores)


@solver
def walk_plan(
    reasks: int = 2, parallel: int | None = None, structured: bool = False, finish_ok: Text | None = None
) -> Solver:
    """Ask every request of a conversation's plan, each with its own messages.

    Args:
        reasks: how often a request is asked again when its reply cannot be read; the last reply counts.
        parallel: the most requests of a conversation at once.
        structured: hold answers to their JSON schema.
        finish_ok: finish reasons that count as the model's own end.
    """
    ends = names_in("finish_ok", finish_ok)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await ask_all(state, reasks=reasks, parallel=parallel, structured=structured, finish_ok=ends)

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster=CLUSTER)]})
def attune_scores() -> Scorer:
    """Every metric of both scoring variants, under its name in score files; NaN if nothing is scored.

    Composites and pillars' means over conversations, standard errors clustered by participant.
    """

    async def score(state: TaskState, target: Target) -> Score:
        return Score(**score_replies(task_of(state.metadata), dict(state.store.items())))

    return score
