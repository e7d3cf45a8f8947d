"""Run policies over data and write result files; runs can be resumed."""

from attune_env.running.builtin import RunReport, run_builtin

__all__ = ["RunReport", "run_builtin"]
