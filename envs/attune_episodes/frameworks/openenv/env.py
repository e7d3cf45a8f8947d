"""`AttuneEnvironment`: the episode of a session."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Any, Final
from uuid import uuid4

import numpy as np
from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, show
from attune_data.source.order import Order
from attune_data.version import __version__
from attune_episodes.frameworks.openenv.models import AttuneAction, AttuneObservation, AttuneState
from attune_episodes.parsing import sound
from attune_episodes.play.episode import Episode, EpisodeOverError
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_rewards.reward.spec import RewardSpec

LONGEST_ID: Final = 255
"""Maximum length of an id, in characters."""


class NotResetError(AttuneError):
    """A step was taken before the first reset."""


class AttuneEnvironment(Environment[AttuneAction, AttuneObservation, AttuneState]):
    """One conversation as an episode: a step answers one request of the protocol.

    What a session receives depends on the annotations only through the scores of earlier replies.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, order: Order, settings: Settings, spec: RewardSpec, lock: Lock) -> None:
        """Make the environment of one session; all sessions of a server share the lock and the order."""
        super().__init__()
        self._order, self._settings, self._spec = order, settings, spec
        self._lock = lock  # the order has a place
        self._id: str | None = None
        self._episode: Episode | None = None

    def reset(
        self,
        /,
        seed: int | None = None,
        episode_id: str | None = None,
        conversation_id: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> AttuneObservation:
        """Begin an episode and return its first request; after an error, the earlier episode continues.

        Args:
            seed: draws the conversation if none is named; the same seed draws the same conversation in every
                session.
            episode_id: a name for the episode, at most 255 characters; generated if None.
            conversation_id: play the conversation with this id.
            index: play the conversation at this position of the data, counted from 0.
            unknown: any other argument, which is refused; OpenEnv itself would ignore it.

        Without seed, id and index, the next conversation in the shared order of all sessions is played.

        Raises:
            SettingsError: arguments that are invalid or conflict, or a conversation in which the stages ask
                nothing.
            UnknownNameError: no such conversation, no such argument.
        """
        for name in unknown:
            arguments = ("seed", "episode_id", "conversation_id", "index")
            raise UnknownNameError("reset argument", name[:100], arguments)
        ids: dict[str, object] = {"episode_id": episode_id, "conversation_id": conversation_id}
        for argument, value in ids.items():
            if value is not None and not (isinstance(value, str) and len(value) <= LONGEST_ID):
                raise SettingsError(
                    f"{argument} is {show(value)}; it must be a text of at most {LONGEST_ID} characters"
                )
        if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
            raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0, below 2^64")
        named = {"conversation_id": conversation_id, "index": index}
        options = {name: value for name, value in named.items() if value is not None}
        drawn = partial(self._order.drawn, np.random.default_rng(seed))
        with self._lock:
            chosen = self._order.choose(
                options, partial(plan, settings=self._settings), None if seed is None else drawn
            )
        self._episode = Episode(chosen, self._settings, self._spec)
        self._id = str(uuid4()) if episode_id is None else sound(episode_id)
        return self._observed()

    def step(self, action: AttuneAction, timeout_s: float | None = None, **unknown: Any) -> AttuneObservation:
        """Score the reply and return the next request; an unreadable reply earns 0, and the status says why.

        Args:
            action: the reply.
            timeout_s: not used, since a step takes milliseconds.
            unknown: not used.

        Raises NotResetError before the first reset, EpisodeOverError after the last request.
        """
        episode = self._episode
        if episode is None:
            raise NotResetError("no episode has begun: reset first (plain HTTP calls keep no episode)")
        if episode.done:
            raise EpisodeOverError(
                f"the episode of {episode.conversation.conversation_id!r} is over after "
                f"{len(episode.steps)} replies: reset to begin another"
            )
        step = episode.submit(action.message)
        score = step.score
        return self._observed(
            reward=step.reward,
            scored=step.request.id,
            status=step.status,
            parts=dict(score.parts),
            value=score.value,
            weight=score.weight,
            reason=score.reason,
        )

    @property
    def state(self) -> AttuneState:
        """The state of the episode."""
        if self._episode is None:
            return AttuneState()
        shown = self._observed()
        same = shown.model_dump(include={*AttuneState.model_fields})
        return AttuneState(episode_id=self._id, step_count=shown.answered, **same)

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version, and a one-sentence description."""
        description = "Annotated conversations: predict, turn by turn, what the person felt and preferred."
        return EnvironmentMetadata(name="attune-env", description=description, version=__version__)

    def _observed(self, **earned: Any) -> AttuneObservation:
        """The state of the episode and the current request, with what the last reply earned."""
        episode = self._episode
        assert episode is not None
        if episode.done:
            asked: dict[str, Any] = {"total_name": episode.total_name}
        else:
            request = episode.request
            asked = {
                "request_id": request.id,
                "stage": request.stage,
                "turn": request.turn,
                "messages": request.chat(),
                "answer_schema": request.schema,
            }
        return AttuneObservation(
            conversation_id=episode.conversation.conversation_id,
            answered=len(episode.steps),
            requests=len(episode.requests),
            done=episode.done,
            total=episode.total,
            **asked,
            **earned,
        )
