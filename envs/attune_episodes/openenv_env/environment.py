"""`AttuneEnvironment`: one session's episode, recorded or live."""

from __future__ import annotations

from typing import Any, Final, Protocol
from uuid import uuid4

from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, show
from attune_data.version import __version__
from attune_episodes.episode import EpisodeOverError
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.parsing import sound

LONGEST: Final = 255
"""Longest id that is looked at, in characters."""


class NotResetError(AttuneError):
    """A step came before the first reset."""


class Playing(Protocol):
    """An episode under way, recorded or live, as a session sees it."""

    @property
    def name(self) -> str:
        """The id of the conversation."""

    @property
    def said(self) -> int:
        """How many replies were given."""

    @property
    def number(self) -> int:
        """How many replies are asked for."""

    @property
    def done(self) -> bool:
        """Whether it is over."""

    @property
    def total(self) -> float:
        """The sum of the rewards so far."""

    @property
    def total_name(self) -> str:
        """The name of the total."""

    def waiting(self) -> dict[str, Any]:
        """Fields of an observation: the request that waits; after the end, what there is left to see."""

    def say(self, text: str) -> dict[str, Any]:
        """Score a reply and go on; the fields of an observation that say what it earned."""


class Serving(Protocol):
    """The state that a server's sessions share."""

    @property
    def description(self) -> str:
        """A sentence that describes the conversations."""

    def episode(self, seed: int | None, conversation_id: str | None, index: int | None) -> Playing:
        """Begin an episode; the arguments and errors are those of `AttuneEnvironment.reset`."""


def check_seed(seed: object) -> None:
    """Raises SettingsError for anything that is not a seed; None draws one at random."""
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
        raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0, below 2^64")


def check_name(argument: str, value: object) -> None:
    """Raises SettingsError for what is no name of sensible length; None is no name."""
    if value is not None and not (isinstance(value, str) and len(value) <= LONGEST):
        raise SettingsError(f"{argument} is {show(value)}; it must be a text of at most {LONGEST} characters")


class AttuneEnvironment(Environment[AttuneAction, AttuneObservation, AttuneState]):
    """One conversation as an episode: a step answers one request of the protocol, or a simulated person.

    What a session receives depends on the annotations only through the scores of replies already given; of a
    live conversation, on the person's state only through what they say and what replies earned.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Serving) -> None:
        """Make the environment of one session, which shares `served` with the other sessions."""
        super().__init__()
        self._served = served
        self._episode: Playing | None = None
        self._id: str | None = None

    def reset(
        self,
        /,
        seed: int | None = None,
        episode_id: str | None = None,
        conversation_id: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> AttuneObservation:
        """Begin an episode and show its first request; after an error, the earlier episode continues.

        Args:
            seed: draws the conversation if none is named; the same seed draws the same conversation in every
                session.
            episode_id: a name for the episode, at most 255 characters; made up if None.
            conversation_id: plays the conversation with this id.
            index: plays the conversation at this place of the data, from 0.
            unknown: any other argument, which is refused; OpenEnv itself would drop it.

        Without seed, id and index it is the next conversation of the order that all sessions share.

        Raises:
            SettingsError: arguments that are of another kind or do not go together, or a conversation in
                which the stages ask nothing.
            UnknownNameError: no such conversation, no such argument.
        """
        for name in unknown:
            arguments = ("seed", "episode_id", "conversation_id", "index")
            raise UnknownNameError("reset argument", name[:100], arguments)
        check_name("episode_id", episode_id)
        self._episode = self._served.episode(seed, conversation_id, index)
        self._id = str(uuid4()) if episode_id is None else sound(episode_id)
        return self._shown(self._episode, {})

    def step(self, action: AttuneAction, timeout_s: float | None = None, **unknown: Any) -> AttuneObservation:
        """Score the reply and show the next request. A reply that cannot be read earns 0 and says why.

        Args:
            action: the reply.
            timeout_s: not used, a step takes milliseconds.
            unknown: not used.

        Raises NotResetError before the first reset, EpisodeOverError after the last request.
        """
        episode = self._episode
        if episode is None:
            raise NotResetError("no episode has begun: reset first (a plain HTTP call keeps no episode)")
        if episode.done:
            raise EpisodeOverError(
                f"the episode of {episode.name!r} is over after {episode.said} replies: "
                "reset to begin another"
            )
        return self._shown(episode, episode.say(action.message))

    @property
    def state(self) -> AttuneState:
        """The state of the episode."""
        episode = self._episode
        if episode is None:
            return AttuneState()
        waits = episode.waiting()
        return AttuneState(
            episode_id=self._id,
            step_count=episode.said,
            conversation_id=episode.name,
            stage=waits.get("stage"),
            turn=waits.get("turn"),
            requests=episode.number,
            done=episode.done,
            total=episode.total,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version, and a sentence on what it is."""
        return EnvironmentMetadata(
            name="attune-env", description=self._served.description, version=__version__
        )

    def _shown(self, episode: Playing, earned: dict[str, Any]) -> AttuneObservation:
        return AttuneObservation(
            conversation_id=episode.name,
            answered=episode.said,
            requests=episode.number,
            done=episode.done,
            total=episode.total,
            total_name=episode.total_name if episode.done else None,
            **episode.waiting(),
            **earned,
        )
