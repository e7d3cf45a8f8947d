"""One style for every figure: colours that everybody can distinguish, thin axes, reproducible bytes."""

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
"""Baselines, chance."""
GRID: Final = "#d8dee4"
PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours without yellow and black, told apart by colour-blind people."""
BLUE, ORANGE = PALETTE[:2]
FORMATS: Final = ("svg", "png", "pdf")
LONGEST: Final = 80
"""Characters of a label on an axis."""

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
    "svg.fonttype": "none",  # texts stay texts: selectable, and read by screen readers
    "svg.hashsalt": "attune",
    "pdf.fonttype": 42,
}


@contextmanager
def style() -> Iterator[None]:
    """The settings that figures are made and saved under."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # a person's own matplotlibrc does not change a paper's figure
        settings: Any = matplotlib.rcParams
        settings.update(_RC)
        warnings.filterwarnings("ignore", message=".*Glyph .* missing.*")  # SVG shows it all the same
        yield


def panels(rows: int = 1, columns: int = 1, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of `width` × `height` inches and its panels, row by row.

    No global state: figures need no closing, and threads do not interfere.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def drawn(figure: Figure, formats: Sequence[str]) -> dict[str, bytes]:
    """The figure in the formats, and always as SVG; PNG and PDF are on white, and no file holds a date."""
    files = {}
    with style():
        if (engine := figure.get_layout_engine()) is not None:  # found once: it takes as long as drawing
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
    """A model's or group's name on one line, short enough for an axis."""
    return one_line(name, LONGEST)
