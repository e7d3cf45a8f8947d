"""AttuneBench for lm-evaluation-harness: `lm_eval --tasks attunebench`. Needs the extra `harness`.

The folder holds the task files; `attune paths lm-eval` prints it, for `lm_eval --include_path`. They name
`run.AttuneTask`; `rollouts_from` reads logged samples without lm-eval.
"""

from attune_env.lm_eval_tasks.logs import rollouts_from

__all__ = ["rollouts_from"]
