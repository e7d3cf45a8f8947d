"""Seeds are hashed, never added: every drawn thing has a hash of its own, the same on every machine."""

from __future__ import annotations

import hashlib


def digest(*parts: object) -> bytes:
    """A hash of the parts' texts."""
    return hashlib.sha256("/".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
