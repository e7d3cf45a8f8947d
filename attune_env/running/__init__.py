"""Running policies over data into result files, resumable."""

from attune_env.running.builtin import RunReport, run_builtin

__all__ = ["RunReport", "run_builtin"]
