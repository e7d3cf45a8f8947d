"""Figures drawn once, in all the formats that are wanted; beside other work where there is a second core."""

from __future__ import annotations

import contextlib
import io
import math
import multiprocessing
import os
import pickle
import sys
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from attune_data import garbage
from attune_env.figures.style import style, svg_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[], "Figure"]
Drawn = list[tuple[str, bytes]]
"""(format, content): `svg` always and first, then what else is wanted."""
PROCESSES: Final = 2
"""Besides the one that waits for them; while that one works, one fewer."""
AT_ONCE: Final = 8
"""Figures that a process draws at most: it keeps what it used, about 10 MB a figure."""


def drawn(draw: Draw, formats: Sequence[str]) -> Drawn:
    """One figure in the formats; no file holds a date.

    The layout is found once: finding it takes as long as drawing.
    """
    figure = draw()
    with style():
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
            figure.set_layout_engine(None)  # "none" would leave one that has everything drawn twice
    made = [("svg", svg_text(figure).encode())]
    with style():
        for kind in formats:
            if kind != "svg":
                stream = io.BytesIO()
                stamp: dict[str, Any] = {"CreationDate": None} if kind == "pdf" else {}
                figure.savefig(stream, format=kind, facecolor="white", metadata=stamp)
                made.append((kind, stream.getvalue()))
    return made


class Drawing:
    """Figures that are drawn while other work goes on.

    Where the system can fork, a second process draws what was added; else `finished` draws it. Either way
    the files are the same. Use it as a context: what is still being drawn at its end is stopped.
    """

    def __init__(self, formats: Sequence[str], *, beside: bool | None = None) -> None:
        self.formats = formats
        self.beside = _can_fork() if beside is None else beside
        self._waiting: deque[int] = deque()
        self._running: list[ForkProcess] = []
        self._given_to: dict[int, ForkProcess] = {}
        self._draws: list[Draw] = []
        self._folder = tempfile.TemporaryDirectory(prefix="attune-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.kill()
            process.join()
        self._folder.cleanup()

    def __len__(self) -> int:
        return len(self._draws)

    def add(self, draw: Draw) -> None:
        """A further figure; it is drawn when there is room."""
        if self.beside and not self._draws:
            drawn(_first, self.formats)
        self._waiting.append(len(self._draws))
        self._draws.append(draw)
        self.go_on()

    def go_on(self, processes: int = PROCESSES - 1) -> None:
        """Starts what waits, if there is room; to be called now and then while something else is done."""
        if not self.beside:
            return
        for process in [process for process in self._running if not process.is_alive()]:
            process.join()
            self._running.remove(process)
        while self._waiting and len(self._running) < processes:
            # several to a process, since the one that starts them may be busy when one is done
            share = min(AT_ONCE, math.ceil(len(self._waiting) / (2 * processes)))
            self._start([self._waiting.popleft() for _ in range(share)])

    def _start(self, numbers: Sequence[int]) -> None:
        figures = [(self._path(number), self._draws[number]) for number in numbers]
        process = multiprocessing.get_context("fork").Process(target=_draw_into, args=(figures, self.formats))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks beside numpy's idle threads
            process.start()
        self._running.append(process)
        self._given_to |= dict.fromkeys(numbers, process)

    def finished(self) -> Iterator[Drawn]:
        """All figures, in the order they were added."""
        for number, draw in enumerate(self._draws):
            self.go_on(PROCESSES)
            path = self._path(number)
            while self.beside and not path.exists():
                if (its := self._given_to.get(number)) is not None and not its.is_alive():
                    break
                wait([process.sentinel for process in self._running])
                self.go_on(PROCESSES)
            if path.exists():
                found: Drawn = pickle.loads(path.read_bytes())  # our own process wrote it
                path.unlink()
                yield found
            else:  # it could not be drawn there: what is wrong with it shows here
                yield drawn(draw, self.formats)

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.pickle"


def _first() -> Figure:
    """A figure that is thrown away: fonts and code that it loads need not be loaded by every process."""
    from attune_env.figures.style import panels

    figure, (axis,) = panels(width=1, height=1)
    with style():
        axis.set_title("a")
        axis.set_xlabel("b")
    return figure


def _draw_into(figures: Sequence[tuple[Path, Draw]], formats: Sequence[str]) -> None:
    """Of the second process: draws, and puts each result in its place in one step."""
    sys.stderr = sys.stdout = io.StringIO()  # a figure that cannot be drawn is drawn again, and heard, there
    with garbage.paused():  # it would walk through the fonts that are cut for each PDF
        for path, draw in figures:
            with contextlib.suppress(Exception):
                fresh = path.with_suffix(".part")
                fresh.write_bytes(pickle.dumps(drawn(draw, formats)))
                os.replace(fresh, path)


def _can_fork() -> bool:
    """Whether there is a second core, and forking is safe: on macOS it is not."""
    return sys.platform == "linux" and (os.cpu_count() or 1) > 1
