"""Seeds are hashed, never added: every draw has its own hash, the same on every machine."""

from __future__ import annotations

import hashlib


def digest(*parts: object) -> bytes:
    """A hash of the string forms of the parts."""
    return hashlib.sha256("/".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
