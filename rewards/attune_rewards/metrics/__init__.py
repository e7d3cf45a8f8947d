"""The metrics, one module per topic, and the scores of a conversation computed from them."""
