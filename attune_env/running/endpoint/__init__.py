"""Evaluating a model behind an OpenAI-compatible server: calls, faults, the journal, the run.

`run_endpoint` (in `run`) is the way in. From there down: `loop` keeps calls under way, `schedule` says which
is next, `job` is one conversation, `asking` one call with its retries and re-asks, `client` one attempt,
`faults` the table of what can go wrong, `journal` what makes a finished call durable.
"""
