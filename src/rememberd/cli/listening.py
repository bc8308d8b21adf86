"""Where a server listens: the address, the names it goes by, and whether others than this machine can reach it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from rememberd.errors import SettingsError, Unavailable

_LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
_BACKLOG = 2048
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Listening:
    """``host`` is what was asked for, ``address`` what it stands for."""

    host: str
    address: str
    family: socket.AddressFamily

    @classmethod
    def on(cls, host: str) -> Listening:
        """Raises ``SettingsError`` for a name that stands for no address."""
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise SettingsError(f"server.host: {host!r} is no address to listen on") from error
        family, _, _, _, endpoint = min(found, key=lambda one: one[0] != socket.AF_INET)
        return cls(host, str(endpoint[0]), family)

    @property
    def is_loopback(self) -> bool:
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def is_wildcard(self) -> bool:
        return ipaddress.ip_address(self.address).is_unspecified

    def names(self, further: str | None) -> frozenset[str] | None:
        """The names that the Host header may carry; None, for any, on a wildcard address without ``further`` names."""
        given = {name.strip().lower() for name in (further or "").split(",") if name.strip()}
        if self.is_wildcard and not given:
            return None
        return _LOOPBACK_NAMES | {self.host.lower(), self.address} | given

    def bind(self, port: int) -> socket.socket:
        """A listening socket; port 0 is any free one."""
        if port > _LAST_PORT:
            raise SettingsError(f"server.port: {port} is no port; the last one is {_LAST_PORT}")
        try:
            return socket.create_server((self.address, port), family=self.family, backlog=_BACKLOG)
        except OSError as error:
            raise Unavailable(f"cannot listen on {self.host} port {port}: {error.strerror}") from error

    def url(self, bound: socket.socket) -> str:
        """How this machine reaches the server."""
        loopback = "::1" if self.family == socket.AF_INET6 else "127.0.0.1"
        address = loopback if self.is_wildcard else self.address
        port = bound.getsockname()[1]
        return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
