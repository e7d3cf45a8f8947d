"""The folder that tests of result files start from."""

from tests.front.conftest import place as place
