"""The page templates, which escape what they show, and a content security policy as a second defence."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup, escape

from attune_data.errors import one_line
from attune_env.report.pages.visible import visible

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")
"""Characters that Markdown may read as more than themselves."""
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto)(:)|\b(www)(\.)")
"""Texts that some readers of Markdown turn into links."""
_CODE = re.compile(r"`([^`]+)`")
_MARKUP = re.compile(r"[\\\[\]<>|!$&]")
"""Characters that a reader of Markdown might act on even in a code span."""
LONGEST_LINE: Final = 10_000
"""Characters of one line that a page shows."""


def asset(name: str) -> str:
    """The text of a file beside the templates, line ends as line feeds."""
    text = files("attune_env.report.pages").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


@cache
def environment() -> jinja2.Environment:
    """The templates: HTML-escapes everything that was not made here as markup; unknown names are errors."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=lambda name: name is None or name.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"policy": policy, "md": markdown}
    made.filters |= {"line": lambda text: one_line(text, LONGEST_LINE), "coded": _coded, "md": markdown,
                     "md_code": markdown_code, "md_coded": _coded_markdown, "show": visible}  # fmt: skip
    return made


def _coded(text: str) -> Markup:
    """One line of a message as HTML, with text between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(one_line(text, LONGEST_LINE)))))


@cache
def joined(*names: str) -> str:
    """Several assets as one text."""
    return "\n".join(map(asset, names))


def markdown(text: str) -> str:
    """`text` on one line, escaped so that Markdown shows it character by character."""
    plain = _ACTIVE.sub(r"\\\1", one_line(text, LONGEST_LINE))
    return _LINK.sub(lambda m: (m[1] or m[3]) + ("&#58;" if m[2] else "&#46;"), plain)


def _coded_markdown(text: str) -> str:
    """One line as Markdown, with text between backticks as code unless it may be taken for markup."""
    pieces = _CODE.split(one_line(text, LONGEST_LINE))
    for place in range(1, len(pieces), 2):
        risky = _MARKUP.search(pieces[place]) or _LINK.search(pieces[place])
        pieces[place] = markdown(f"`{pieces[place]}`") if risky else markdown_code(pieces[place])
    return "".join(piece if place % 2 else markdown(piece) for place, piece in enumerate(pieces))


def markdown_code(text: str) -> str:
    """Text as a code span, with more backticks around it than inside."""
    clean = one_line(text, LONGEST_LINE)
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {clean} {fence}" if longest else f"`{clean}`"


def policy(style: str, script: str) -> str:
    """A content security policy for a page with one inline style sheet and one inline script.

    Nothing is fetched, sent, framed or run but these two, named by their hashes: a second defence, should a
    model's text ever get through the escaping. Pictures may be embedded in the page.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{_digest(style)}'",
            f"script-src 'sha256-{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
