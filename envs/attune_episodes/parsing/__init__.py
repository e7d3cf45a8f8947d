"""`parse`: turn a model's text into a typed prediction, or `Unparsed` with a stable reason. Never raises."""

from attune_episodes.parsing.decode import Unparsed, sound
from attune_episodes.parsing.extract import extract_object
from attune_episodes.parsing.parse import parse
from attune_episodes.parsing.rendering import render

__all__ = ["Unparsed", "extract_object", "parse", "render", "sound"]
