"""The result record of a conversation: what it looks like, written and read here alone.

`write` makes a record from a prediction and what was asked, `read` turns a record into a prediction, and
`marks` reads this project's additions to it.
"""
