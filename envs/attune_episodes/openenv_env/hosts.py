"""The hosts that a server answers for: a web page whose name is pointed at this machine gets nothing.

A browser sends the name that it was given in `Host`, and the page that asks in `Origin`. A page of another
site can have its own name resolve to an address of this machine (DNS rebinding): it then asks for that name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import urlsplit

from attune_data.errors import SettingsError, show

_AUTHORITY: Final = re.compile(r"(\[.*\]|[^:]*)(?::\d*)?")
_NAME: Final = re.compile(r"[a-z0-9_.-]+")


def host_name(text: str) -> str:
    """A name or an address in the spelling in which they are compared; raises SettingsError for neither."""
    plain = text.lower().removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(plain.partition("%")[0]))  # without the network interface
    except ValueError:
        pass
    try:
        name = plain.encode("idna").decode()
    except UnicodeError:
        name = ""
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"allowed host {show(text)}: expected a name or an address without scheme and port, "
            "such as env.example.org"
        )
    return name


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refusal(scope: Any, bound: str, allowed: Collection[str]) -> tuple[int, str] | None:
    """The HTTP status and the reason with which a connection is refused; None where it is welcome.

    Args:
        scope: of ASGI, which also says at which address the connection came in.
        bound: the name or address that is served on, as `host_name` gives it; "" if unknown.
        allowed: further names, as `host_name` gives them.
    """
    hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
    name = _host_of(hosts[0]) if len(hosts) == 1 else None
    address = (scope.get("server") or ("",))[0]
    if name is None or not (is_loopback(name) or name in {bound, _spelt(address), *allowed}):
        found = show(" and ".join(hosts)) if hosts else "missing"
        return 421, (
            f"the Host is {found}; expected localhost or the address that is served on; other names, such "
            "as a proxy's, are allowed with --allowed-host NAME (in Python: allowed_hosts)"
        )
    for origin in origins:
        try:
            page = urlsplit(origin).netloc.lower()
        except ValueError:
            page = ""
        if page != hosts[0].lower() and _host_of(page) not in allowed:
            return 403, f"this is a request of a web page of another site, {show(origin)}; they get no answer"
    return None


def _values(scope: Any, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope.get("headers", ()) if name.lower() == header]


def _host_of(authority: str) -> str | None:
    """The host of `host:port`; None where it is none."""
    match = _AUTHORITY.fullmatch(authority)
    return _spelt(match[1]) if match else None


def _spelt(host: str) -> str | None:
    try:
        return host_name(host)
    except SettingsError:
        return None
