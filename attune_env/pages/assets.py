"""What pages are made with: templates that escape what they show, a policy against what slips through."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

import jinja2

_FOLDER: Final = "assets"


def asset(name: str) -> str:
    """The text of a file beside the templates, line ends as line feeds."""
    text = files("attune_env.pages").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


@cache
def environment() -> jinja2.Environment:
    """The templates: everything is escaped unless it was made here as markup; unknown names are errors."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"policy": policy}
    return made


def policy(style: str, script: str) -> str:
    """A content security policy for a page with one inline style sheet and one inline script.

    Nothing is fetched, sent, framed or run but these two, named by their hashes: a second wall behind the
    escaping, should a text of a model ever get through it. Pictures may stand in the page itself.
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
