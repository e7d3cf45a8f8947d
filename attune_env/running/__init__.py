"""Runs: built-in policies, or a model behind a server, play the data; result files can be resumed."""

from attune_env.running.builtin import RunReport, run_builtin

__all__ = ["RunReport", "run_builtin"]
