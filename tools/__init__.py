"""Tools for those who maintain the package; no part of what is installed.

Each runs as `python -m tools.NAME` from the root of the repository.
"""
