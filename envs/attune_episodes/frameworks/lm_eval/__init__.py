"""lm-evaluation-harness: `lm_eval --tasks attunebench --metadata attune_name=value`; extra `lm-eval`.

A conversation becomes a document, a request of its plan an instance that lm-eval's model answers, and the
replies the document's metrics; `rollouts_from` turns logged samples back into rollouts. Prompts, parsing and
scoring stay ours.

The folder contains the task files, which refer to `run.AttuneTask`; `attune paths lm-eval` prints its path,
for `lm_eval --include_path`. Only `run` imports lm-eval.
"""

from typing import Final

from attune_episodes.frameworks.lm_eval.logs import rollouts_from

__all__ = ["rollouts_from"]
TESTED: Final = ("0.4.12", "0.4.14")
"""The range of tested versions of lm-eval; the upper end is excluded."""
