"""Experimental: what was guessed of participants, in files and against nulls. Part of no score and no reward.

`files` holds the records, `builtin` writes those of the nulls, `running.endpoint.profile` those of models;
`measures` are the statistics, `scoring` applies them, `table` shows them.
"""
