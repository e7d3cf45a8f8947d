"""Take a response from a server: no redirect, no cookie, and no more of its body than a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, cast

import httpx

from attune_data.errors import show
from attune_env.running.endpoint.faults import Fault

MOST_BYTES: Final = 4_000_000
"""A longer answer, decoded, is none: the longest reply that is read has 1,000,000 characters. Sixteen of
them at once, and what one of them decodes to, stay far below 400 MB."""
MOST_OF_A_REFUSAL: Final = 256_000
"""So much is read of the body that comes with a status of failure: it is only quoted."""
ACCEPTED: Final = "gzip"
"""`Accept-Encoding`: what `_Unpacked` bounds while it decodes. httpx decodes whole pieces, however large."""

_ZLIB_OR_GZIP: Final = 32 + zlib.MAX_WBITS
_LEFT_OUT: Final = (b"content-encoding", b"content-length", b"content-type", b"transfer-encoding")
"""Headers that are no longer true of the decoded body, or choose among all of Python's codecs to read it."""


def no_cookies() -> CookieJar:
    """A jar that stays empty whatever a server sets."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def refuse_redirect(response: httpx.Response, hide: Callable[[str], str]) -> None:
    """Raise Fault for a redirect: prompts and headers are meant for the address that was given."""
    if not response.is_redirect:
        return
    address = response.headers.get("location")
    where = show(hide(address), 200) if address else "no address"
    raise Fault(
        "redirect",
        f"HTTP {response.status_code}: redirected to {where}; redirects are not followed",
        status=response.status_code,
    )


async def received(response: httpx.Response) -> httpx.Response:
    """The response with its decoded body, read while it comes.

    Raises Fault where an answer is too large or cannot be decoded. A refusal is cut instead: its status
    says what to do.
    """
    most = MOST_BYTES if response.is_success else MOST_OF_A_REFUSAL
    body, taken = bytearray(), 0
    try:
        unpacked = _Unpacked(response.headers.get("content-encoding", ""))
        # closed at once: what is left of a body that is too large shall not wait for the collector
        async with aclosing(cast("AsyncGenerator[bytes, None]", response.aiter_raw())) as pieces:
            async for piece in pieces:
                taken += len(piece)
                body += unpacked(piece, most + 1 - len(body))
                if max(taken, len(body)) > most:
                    raise Fault("too_large", f"the answer is larger than {most // 10**6} MB")
    except Fault:
        if response.is_success:
            raise
    finally:
        await response.aclose()
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _LEFT_OUT]
    return httpx.Response(
        response.status_code, headers=headers, content=bytes(body[:most]), request=response.request
    )


class _Unpacked:
    """Decodes a body piece by piece, never to more than there is room for."""

    def __init__(self, header: str) -> None:
        packed = header.strip().lower() not in ("", "identity")
        if packed and header.strip().lower() not in ("gzip", "x-gzip", "deflate"):
            raise Fault("bad_encoding", f"the answer is packed as {show(header)}; {ACCEPTED} was asked for")
        self._decoder = zlib.decompressobj(_ZLIB_OR_GZIP) if packed else None

    def __call__(self, piece: bytes, room: int) -> bytes:
        if self._decoder is None:
            return piece[:room]
        if self._decoder.eof:
            return b""  # what follows the end is not kept: zlib would collect it
        try:
            return self._decoder.decompress(piece, room)
        except zlib.error as error:
            raise Fault("bad_encoding", f"the answer cannot be unpacked ({error})") from None
