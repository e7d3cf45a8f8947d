"""The tasks of Inspect, so that `inspect eval attune_env/attune` works where the extra `inspect` is.

They stand under `attune_env/` because Inspect takes the first part of a task's name from there, and in
`tasks.py` because the register of evals looks for them in that file.
"""
