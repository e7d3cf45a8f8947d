"""The metrics and the leaves of rewards, one module per topic, and the scores of a conversation.

`tree` arranges the leaves as the strict Composite; `registry` lists the metrics.
"""
