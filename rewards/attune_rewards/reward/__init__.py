"""Rewards made of parts with weights: presets, files that describe one, and the score of a request."""
