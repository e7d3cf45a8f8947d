"""Hypothesis without its deadline: a first example may pay for SciPy's import, and machines differ."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")
