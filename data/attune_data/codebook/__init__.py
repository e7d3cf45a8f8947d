"""The wording of every question: our own, or the official codebook's where the user has it."""

from attune_data.codebook.codebook import Codebook
from attune_data.codebook.official import FILE_NAME, find_official, load_official

__all__ = ["FILE_NAME", "Codebook", "find_official", "load_official"]
