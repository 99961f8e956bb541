"""Making the server known in the local network, by which Home Assistant finds it."""

import asyncio
import logging
import re
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from ipaddress import ip_address

import ifaddr
from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from wakeword.base.errors import ConfigError

logger = logging.getLogger("wakeword.serve")

SERVICE = "_wyoming._tcp.local."
_REFRESH_SECONDS = 30.0
_GOODBYE_SECONDS = 0.3
_MAX_LABEL = 63


def own_addresses() -> list[str]:
    """The addresses of this machine by which others can reach it."""
    found = []
    for adapter in ifaddr.get_adapters():
        for address in adapter.ips:
            text = address.ip if isinstance(address.ip, str) else address.ip[0]
            ip = ip_address(text.partition("%")[0])
            if not (ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast):
                found.append(str(ip))
    return list(dict.fromkeys(found))


def advertised(bound: Iterable[str], own: Sequence[str]) -> list[str]:
    """The addresses at which others reach a server bound to ``bound`` on a machine with the addresses ``own``.

    Never an unspecified address, which Home Assistant drops, nor one of this machine alone.
    """
    found: list[str] = []
    for text in bound:
        ip = ip_address(text.partition("%")[0])
        if ip.is_unspecified:
            versions = {4} if ip.version == 4 else {4, 6}
            found += [one for one in own if ip_address(one).version in versions]
        elif not ip.is_loopback:
            found.append(str(ip))
    return list(dict.fromkeys(found))


def host_name() -> str:
    """The name of this machine as a label of DNS."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname().partition(".")[0]).strip("-")
    return name[:_MAX_LABEL] or "wakeword"


class Announcement:
    """Announces a Wyoming service under ``name``, and follows changes of the addresses.

    Raises ``ConfigError`` if no one else could reach the server, or for a name that DNS does not take.
    """

    def __init__(self, name: str, sockets: Sequence[socket.socket], *, interfaces: Sequence[str] | None = None) -> None:
        """``interfaces``: the addresses of the network interfaces to announce on; ``None`` for all."""
        if not name.strip() or len(name.encode()) > _MAX_LABEL or any(ord(letter) < 32 for letter in name):
            raise ConfigError(f"expected --zeroconf-name of 1 to {_MAX_LABEL} bytes, got {name!r}")
        # The service's name and type are told apart by dots.
        self._name = name.replace(".", "-")
        tcp = [one.getsockname() for one in sockets if one.family in (socket.AF_INET, socket.AF_INET6)]
        self._bound = [str(address[0]) for address in tcp]
        self._port = int(tcp[0][1]) if tcp else 0
        self._interfaces = interfaces
        if not advertised(self._bound, ["192.0.2.1", "2001:db8::1"]):
            raise ConfigError(
                f"expected an address that others can reach for --zeroconf, got {', '.join(self._bound) or 'no tcp'}; "
                "use --uri tcp://0.0.0.0:10400, or leave --zeroconf out"
            )

    def info(self) -> AsyncServiceInfo:
        """The service as it is now."""
        name, server = f"{self._name}.{SERVICE}", f"{host_name()}.local."
        addresses = advertised(self._bound, own_addresses())
        return AsyncServiceInfo(SERVICE, name, parsed_addresses=addresses, port=self._port, server=server)

    async def run(self) -> None:
        """Announce until cancelled. Failures are logged, and it is tried again: the server works without."""
        trouble = ""
        while True:
            try:
                if addresses := sorted(self.info().parsed_addresses()):
                    await self._announce(addresses)
                    trouble = ""
                    continue
            except (ZeroconfError, OSError, RuntimeError) as error:
                if (text := str(error) or type(error).__name__) != trouble:
                    logger.warning(
                        "--zeroconf: the server could not be announced, it will be tried again: %s",
                        text,
                        extra={"event": "zeroconf"},
                    )
                trouble = text
            await asyncio.sleep(_REFRESH_SECONDS)

    async def _announce(self, addresses: Sequence[str]) -> None:
        """Announce these addresses until they change.

        Then another ``AsyncZeroconf`` is needed: it speaks on the interfaces that there were when it was made.
        """
        chosen = InterfaceChoice.All if self._interfaces is None else list(self._interfaces)
        zeroconf = AsyncZeroconf(interfaces=chosen)
        try:
            info = self.info()
            await (await zeroconf.async_register_service(info, allow_name_change=True))
            logger.info(
                "announced as '%s' at %s port %s",
                info.name.removesuffix(f".{SERVICE}"),
                ", ".join(info.parsed_addresses()),
                info.port,
                extra={"event": "zeroconf"},
            )
            while sorted(self.info().parsed_addresses()) == addresses:
                await asyncio.sleep(_REFRESH_SECONDS)
        finally:
            for end in (zeroconf.async_unregister_all_services, zeroconf.async_close):
                with suppress(ZeroconfError, OSError, TimeoutError):
                    async with asyncio.timeout(_GOODBYE_SECONDS):
                        await end()
