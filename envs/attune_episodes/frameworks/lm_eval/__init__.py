"""AttuneBench for lm-evaluation-harness: `lm_eval --tasks attunebench`. Needs the extra `harness`.

The folder contains the task files, which refer to `run.AttuneTask`; `attune paths lm-eval` prints its path,
for `lm_eval --include_path`. `rollouts_from` reads logged samples without lm-eval.
"""

from attune_episodes.frameworks.lm_eval.logs import rollouts_from

__all__ = ["rollouts_from"]
