"""Which call is made next: one at a time in a conversation as long as there are conversations enough.

The requests of a conversation share a growing beginning, which servers keep in their prefix caches; so
they are asked one after the other, many conversations at once. When no new conversation is left to fill
the places, the calls of those under way run side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from attune_env.running.endpoint.job import Job, Step


class Schedule:
    """The jobs of a run, started one by one.

    `held_up(step)` says whether a call would have to wait for another one: such calls go last when those of
    one conversation run side by side.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        start: Callable[[Job], None],
        held_up: Callable[[Step], bool] = lambda step: False,
    ) -> None:
        self._held_up = held_up
        self._coming: Iterator[Job] = iter(jobs)
        self._start = start
        self._active: dict[int, Job] = {}
        self._idle: deque[Job] = deque()
        """Active jobs with calls to make and none under way."""

    def next(self) -> tuple[Job, Step | None] | None:
        """The next call, counted as under way; None where none can be made now.

        Without a step the job has just been started and is complete: the journal held all its calls.
        """
        while self._idle:
            job = self._idle.popleft()
            if job.waiting and not job.flying:
                return self._taken(job)
        coming = next(self._coming, None)
        if coming is not None:
            self._start(coming)
            if not coming.waiting:
                return coming, None
            self._active[id(coming)] = coming
            return self._taken(coming)
        crowded = [job for job in self._active.values() if job.waiting]
        if not crowded:
            return None
        job = min(crowded, key=lambda job: (self._held_up(job.waiting[0]), job.flying))
        if self._held_up(job.waiting[0]):
            for other in crowded:
                free = next((step for step in other.waiting if not self._held_up(step)), None)
                if free is not None:
                    other.waiting.remove(free)
                    other.waiting.appendleft(free)
                    return self._taken(other)
        return self._taken(job)

    def landed(self, job: Job) -> None:
        """Notes that a call of a job has ended."""
        job.flying -= 1
        if job.waiting:
            if not job.flying:
                self._idle.append(job)
        elif not job.flying:
            self._active.pop(id(job), None)

    def _taken(self, job: Job) -> tuple[Job, Step]:
        job.flying += 1
        return job, job.waiting.popleft()
