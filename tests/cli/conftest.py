"""The folder that several commands start from."""

from tests.front.conftest import place

__all__ = ["place"]
