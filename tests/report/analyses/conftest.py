"""A study of one record of two turns, whose numbers fit on a page."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data import Conversations
from attune_env.report.analyses import Study
from tests.data.builders import conversation
from tests.report.analyses.made import study_of
from tests.report.analyses.two_turns import said


@pytest.fixture(scope="module")
def talk() -> Any:
    return conversation()


@pytest.fixture(scope="module")
def study(talk: Any, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study_of(tmp_path_factory.mktemp("tiny"), Conversations([talk]), [said(talk)])
