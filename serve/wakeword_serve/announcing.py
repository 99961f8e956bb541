"""Making the server known in the local network, by which Home Assistant finds it."""

import asyncio
import logging
import re
import socket
from contextlib import suppress

from zeroconf import Error as ZeroconfError
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from wakeword.base.errors import ConfigError
from wakeword_serve.addresses import is_loopback

logger = logging.getLogger("wakeword.serve")

SERVICE = "_wyoming._tcp.local."
_MDNS = ("224.0.0.251", 5_353)
"""Where announcements go."""
_REFRESH_SECONDS = 30.0
_GOODBYE_SECONDS = 0.3
_MAX_LABEL = 63


def route_address() -> str:
    """The address of this machine by which it speaks to its network. ``OSError`` where there is no way into one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_MDNS)  # sends nothing
        return str(probe.getsockname()[0])


def host_name() -> str:
    """The name of this machine as a label of DNS."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname().partition(".")[0]).strip("-")
    return name[:_MAX_LABEL] or "wakeword"


class Announcement:
    """Announces a Wyoming service under ``name`` at one address, and follows changes of it.

    Raises ``ConfigError`` if no one else could reach the server, or for a name that DNS does not take.
    """

    def __init__(self, name: str, listening: socket.socket) -> None:
        """``listening``: the server's socket."""
        if not name.strip() or len(name.encode()) > _MAX_LABEL or any(ord(letter) < 32 for letter in name):
            raise ConfigError(f"expected --zeroconf-name of 1 to {_MAX_LABEL} bytes, got {name!r}")
        # The service's name and type are told apart by dots.
        self._name = name.replace(".", "-")
        self._bound, self._port = listening.getsockname()[:2]
        if is_loopback(self._bound):
            raise ConfigError(
                f"expected an address that others can reach for --zeroconf, got {self._bound}; "
                "use --uri tcp://0.0.0.0:10400, or leave --zeroconf out"
            )

    def info(self) -> AsyncServiceInfo:
        """The service as it is now. ``OSError`` where others cannot reach it now."""
        name, server = f"{self._name}.{SERVICE}", f"{host_name()}.local."
        # Home Assistant drops one that is unspecified.
        address = route_address() if self._bound in ("0.0.0.0", "::") else self._bound.partition("%")[0]
        return AsyncServiceInfo(SERVICE, name, parsed_addresses=[address], port=self._port, server=server)

    async def run(self) -> None:
        """Announce until cancelled. Failures are logged, and it is tried again: the server works without."""
        trouble = ""
        while True:
            try:
                await self._announce()
                trouble = ""
                continue
            except (ZeroconfError, OSError, RuntimeError) as error:
                if (text := str(error) or type(error).__name__) != trouble:
                    logger.warning("--zeroconf: the server could not be announced, it will be tried again: %s", text)
                trouble = text
            await asyncio.sleep(_REFRESH_SECONDS)

    async def _announce(self) -> None:
        """Announce the server until its address changes.

        Then another ``AsyncZeroconf`` is needed: it speaks on the interfaces that there were when it was made.
        """
        info = self.info()
        zeroconf = AsyncZeroconf()
        try:
            await (await zeroconf.async_register_service(info, allow_name_change=True))
            (address,) = info.parsed_addresses()
            logger.info("announced as '%s' at %s port %s", info.name.removesuffix(f".{SERVICE}"), address, info.port)
            while self.info().parsed_addresses() == [address]:
                await asyncio.sleep(_REFRESH_SECONDS)
        finally:
            for end in (zeroconf.async_unregister_all_services, zeroconf.async_close):
                with suppress(ZeroconfError, OSError, TimeoutError):
                    async with asyncio.timeout(_GOODBYE_SECONDS):
                        await end()
