"""Whole live conversations for trainers: make the rows, and begin the conversation of a row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.simulate.stream import Simulation
from attune_data.version import __version__
from attune_episodes.live.chat import LiveChat
from attune_episodes.live.source import check_simulated
from attune_episodes.live.standing import Standing, reader_name
from attune_episodes.score import LIVE
from attune_episodes.trainers.rows import described, table, unscored

if TYPE_CHECKING:
    from datasets import Dataset

COLUMNS = ("prompt", "task", "id", "conversation_id", "participant_id", "reward", "provenance")


def live_rows(world: Simulation, number: int, *, reader: str | None = None) -> Dataset:
    """Make a row for each of the first conversations of a simulated world, to be held live.

    Args:
        world: the simulation; its `start` and `step` determine the conversations.
        number: the number of rows.
        reader: the reader of the replies, a name in `READERS`; by default the fitted one.

    Returns:
        Rows with the columns of `conversation_rows`: `prompt` is the person's first message, `task` (JSON,
        for scoring only) where the conversation begins, `reward` "live". `to_skyrl` accepts them.

    Raises SettingsError for other conversations than a Simulation's, whose people have no known state, and
    for a number below 1; UnknownNameError for another reader.
    """
    if not isinstance(world, Simulation):
        check_simulated(world, "a live row")
        raise SettingsError(f"world is {show(world)}; expected Simulation(seed)")
    if type(number) is not int or number < 1:
        raise SettingsError(f"number is {show(number)}; it must be a whole number, at least 1")
    known = reader_name(reader)
    standings = (Standing(world, world.start + i * world.step, reader=known) for i in range(number))
    rows = (
        {
            "prompt": live.chat(),
            "task": json.dumps(standing.to_json(), ensure_ascii=False),
            "id": live.name,
            "conversation_id": live.name,
            "participant_id": world.person(standing.index).participant_id,
            "reward": LIVE,
            "provenance": "simulated",
        }
        for standing in standings
        for live in [standing.live()]
    )
    told = described(f"Live conversations of attune-env {__version__}, reward {LIVE}", "simulated")
    return table(rows, COLUMNS, told, unscored(LIVE))


def chat_of_row(task: object) -> LiveChat:
    """Begin the conversation of a row of `live_rows`, given its column `task`.

    Raises DataError for anything else.
    """
    try:
        document = json.loads(task)  # type: ignore[arg-type]  # caught below
    except (TypeError, ValueError) as error:
        raise DataError(Problem("row", "task", show(task), "the JSON text that live_rows wrote")) from error
    return LiveChat(Standing.from_json(document).live())
