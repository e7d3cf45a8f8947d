"""One style for every figure: colour-blind-safe colours, thin axes, reproducible bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1f2328"
FAINT: Final = "#656d76"
"""The colour of baselines and of chance."""
GRID: Final = "#d8dee4"
PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colour-blind-safe colours, without yellow and black."""
BLUE, ORANGE = PALETTE[:2]
LONGEST_NAME: Final = 80
"""Most characters of an axis label."""

_RC: Final[dict[str, Any]] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.formatter.use_locale": False,
    "text.color": INK,
    "text.parse_math": False,  # a model may be called "$x"
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: selectable, and accessible to screen readers
    "svg.hashsalt": "attune",
    "pdf.fonttype": 42,
}


@contextmanager
def style() -> Iterator[None]:
    """The settings under which figures are made and saved."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # the user's matplotlibrc must not change a figure
        settings: Any = matplotlib.rcParams
        settings.update(_RC)
        warnings.filterwarnings("ignore", message=".*Glyph .* missing.*")  # SVG shows it anyway
        yield


def panels(rows: int = 1, columns: int = 1, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure of `width` × `height` inches; returns it and its panels, row by row.

    There is no global state, so figures need not be closed and threads do not interfere.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def drawn(figure: Figure, formats: Sequence[str]) -> dict[str, bytes]:
    """Render the figure in the formats and always as SVG; PNG and PDF are on white, without a date."""
    files = {}
    with style():
        if (engine := figure.get_layout_engine()) is not None:  # cached, since it takes as long as drawing
            engine.execute(figure)
            figure.set_layout_engine(None)
        for kind in dict.fromkeys(("svg", *formats)):
            stream = io.BytesIO()
            stamps: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}
            face = "none" if kind == "svg" else "white"
            figure.savefig(stream, format=kind, facecolor=face, metadata=stamps.get(kind, {}))
            files[kind] = stream.getvalue()
    return files


def name_text(name: str) -> str:
    """Shorten the name of a model or group to one line that fits an axis."""
    return one_line(name, LONGEST_NAME)
