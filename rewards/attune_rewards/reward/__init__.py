"""Rewards: parts with weights, the presets, and the score of a request."""
