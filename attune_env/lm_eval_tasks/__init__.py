"""AttuneBench for lm-evaluation-harness: `lm_eval --tasks attunebench`. Needs the extra `harness`.

The folder contains the task files, which refer to `run.AttuneTask`; `attune paths lm-eval` prints its path,
for `lm_eval --include_path`. `rollouts_from` reads logged samples without lm-eval.
"""

from attune_env.lm_eval_tasks.logs import rollouts_from

__all__ = ["rollouts_from"]
