"""Locate a model: base URL, key and conventions of each provider.

A key is kept in a `Secret`, which never shows it and releases it only for the request's header.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from attune_data.errors import DataError, SettingsError, UnknownNameError, show
from attune_data.jsonio import read_json
from attune_rewards.record.marks import mapping

_PLACES: Final = {
    "openrouter": ("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "prime": ("https://api.pinference.ai/api/v1", ("RLVR_PRIME_API_KEY", "PRIME_API_KEY")),
    "custom": (None, ("OPENAI_API_KEY",)),
}
"""Provider -> its base URL, and the environment variables that may hold its key."""
PROVIDERS: Final = tuple(_PLACES)
"""The providers that are servers; `builtin` is none."""
SHORTEST_HIDDEN: Final = 8
"""Shorter keys are placeholders such as EMPTY; hiding them everywhere would garble ordinary words."""
LONGER_THAN_WORDS: Final = 20
"""Least length at which a key of letters is hidden, since a shorter one may be an ordinary word."""
PRIME_CONFIG: Final = ".prime/config.json"
"""Path below the user's home."""


class Secret:
    """A key. It never appears in a repr, a str, a pickle or an error."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret(set)" if self._text else "Secret(none)"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise an error, since pickles are written to files or sent elsewhere."""
        raise TypeError("a key cannot be pickled")

    def reveal(self) -> str:
        """The key, for the request's header only."""
        return self._text

    def hidden_in(self, text: str) -> str:
        """Remove the key from `text`, since servers quote it in their errors."""
        shortest = LONGER_THAN_WORDS if self._text.isalpha() else SHORTEST_HIDDEN
        return text.replace(self._text, "[key]") if len(self._text) >= shortest else text


@dataclass(frozen=True)
class Endpoint:
    """A server with OpenAI's chat completions API, and its conventions."""

    provider: str
    base_url: str
    """The base URL, without a trailing slash, user name or password."""
    key: Secret = field(default_factory=Secret)
    headers: Mapping[str, str] = field(default_factory=dict)
    tells_cost: bool = False
    """Whether answers are known to include their cost in dollars (`usage.cost`)."""
    limit_field: str = "max_tokens"
    """The field that limits the length of an answer."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields added to the body of every request."""

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers of every request, with the key."""
        key = {"Authorization": f"Bearer {self.key.reveal()}"} if self.key else {}
        return {**self.headers, **key}


def endpoint_of(
    provider: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_var: str | None = None,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
    need_key: bool = True,
) -> Endpoint:
    """The endpoint given by the arguments and the environment; raises SettingsError if anything is missing.

    `base_url` replaces the provider's own (`custom` requires one), `api_key` takes precedence over all other
    sources of a key, `api_key_var` replaces the provider's variables, and `home` the user's folder with
    `.prime/config.json`. `need_key` says whether a provider other than `custom` must have a key (a dry run
    does not need one).
    """
    if provider not in PROVIDERS:
        raise UnknownNameError("provider", provider, PROVIDERS)
    url, names = _PLACES[provider]
    names = (api_key_var,) if api_key_var else names
    variables = os.environ if environment is None else environment
    config = _prime_config(home) if provider == "prime" else {}
    places = [(api_key, "--api-key"), *((variables.get(name), name) for name in names)]
    places.append((config.get("api_key"), f"~/{PRIME_CONFIG}"))
    # files and shells may leave line breaks
    stripped = [((value or "").strip(), source) for value, source in places]
    key, source = next((place for place in stripped if place[0]), ("", ""))
    if not key.isascii() or (key and not key.isprintable()):
        raise SettingsError(f"the key from {source} contains characters that an HTTP header cannot carry")
    if not key and api_key_var:
        raise SettingsError(
            f"--api-key-var names {show(api_key_var)}, which is not set: export {api_key_var}=…"
        )
    if not key and need_key and provider != "custom":
        elsewhere = f" (or run `prime login`, which writes ~/{PRIME_CONFIG})" * (provider == "prime")
        raise SettingsError(
            f"no key for {provider}: {' and '.join(names)} {'are' if len(names) > 1 else 'is'} not set; "
            f"export {names[-1]}=…{elsewhere}, or name another variable with --api-key-var"
        )
    found = base_url or config.get("inference_url") or url
    if not found:
        raise SettingsError(
            "provider custom needs --base-url: the address of the server, such as http://localhost:8000/v1"
        )
    team = config.get("team_id")
    return Endpoint(
        provider=provider,
        base_url=checked_url(found),
        key=Secret(key),
        headers={"X-Prime-Team-ID": team} if team else {},
        tells_cost=provider == "openrouter",
        limit_field="max_completion_tokens" if provider == "openai" else "max_tokens",
        extra={"usage": {"include": True}} if provider == "openrouter" else {},
    )


def checked_url(url: str) -> str:
    """A base URL without trailing slash and `/chat/completions`; raises SettingsError if it is invalid."""
    text = url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if sound and (parts.username is not None or parts.password is not None):
        # not quoted, since it contains a password
        raise SettingsError("--base-url contains a user name or password; give the key with --api-key-var")
    if not sound or parts.query or parts.fragment:
        # parts that could contain a key or a password are not quoted either
        shown = "no address" if {"?", "@", "#"} & set(url) else show(url)
        raise SettingsError(f"--base-url is {shown}; expected an address such as http://localhost:8000/v1")
    return text


def _prime_config(home: Path | None) -> dict[str, str]:
    """The string values in Prime's own configuration; {} if there is none."""
    path = (home or Path.home()) / PRIME_CONFIG
    if not path.is_file():
        return {}
    try:
        content = read_json(path)
    except DataError:
        # the problem would quote the file, which contains a key
        raise SettingsError(f"{path} is not valid JSON; fix it, or set PRIME_API_KEY") from None
    return {name: value for name, value in mapping(content).items() if isinstance(value, str) and value}
