"""Where the server listens: the addresses of its options as sockets."""

import asyncio
import errno
import select
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from wakeword.base.errors import ConfigError

DEFAULT_PORT = 10_400
"""The port of wake-word services in Home Assistant."""

Network = IPv4Network | IPv6Network

SUPERVISOR = IPv4Network("172.30.32.2/32")
"""Home Assistant in the network of its add-ons: ingress comes from there alone (its documentation, "Presentation")."""


@dataclass(frozen=True)
class Place:
    """The value of ``--uri``."""

    scheme: str
    """``tcp``, ``unix`` or ``stdio``."""
    host: str = ""
    port: int = 0
    path: Path = Path()


def place_of(uri: str) -> Place:
    """Read ``tcp://HOST:PORT``, ``unix://PATH`` or ``stdio://``. Raises ``ConfigError``."""
    expected = f"expected --uri tcp://HOST:PORT, unix://PATH or stdio://, got {uri!r}"
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{expected} ({error})") from None
    if parts.query or parts.fragment:
        raise ConfigError(expected)
    match parts.scheme:
        case "tcp" if host and not parts.path.strip("/"):
            return Place("tcp", host, DEFAULT_PORT if port is None else port)
        case "unix" if parts.netloc or parts.path:
            return Place("unix", path=Path(parts.netloc + parts.path))
        case "stdio" if not parts.netloc and not parts.path:
            return Place("stdio")
    raise ConfigError(expected)


def host_and_port(text: str, option: str = "--http ", instance: str = "127.0.0.1:10401") -> tuple[str, int]:
    """Read the ``HOST:PORT`` of an option; the host of an IPv6 address is in brackets. Raises ``ConfigError``."""
    expected = f"expected {option}HOST:PORT, for instance {instance}, got {text!r}"
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{expected} ({error})") from None
    if not host or port is None or parts.path or parts.query or parts.fragment:
        raise ConfigError(expected)
    return host, port


def tcp_sockets(host: str, port: int) -> list[socket.socket]:
    """Listening sockets on all addresses of a host that this machine has; ``::`` takes IPv4 as well.

    Raises ``ConfigError``, also if none of the addresses is of this machine. With port 0 the system chooses one, the same
    for all addresses.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # the latter for what can be no name, for instance "a..b"
        reason = error.strerror if isinstance(error, OSError) else "no name of a host"
        raise ConfigError(f"expected the address of this machine, got {host!r}: {reason}") from None
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            one = _listening(family, str(address[0]), sockets[0].getsockname()[1] if sockets else port)
            if one is not None:
                sockets.append(one)
    except OSError as error:
        for one in sockets:
            one.close()
        hint = "; another program has it, choose another port" if error.errno == errno.EADDRINUSE else ""
        raise ConfigError(f"expected to listen on {host} port {port}, could not: {error.strerror}{hint}") from None
    if not sockets:
        addresses = ", ".join(dict.fromkeys(str(one[4][0]) for one in found))
        raise ConfigError(f"expected the address of this machine, got {host!r}: it is not at {addresses}")
    return sockets


def _listening(family: int, host: str, port: int) -> socket.socket | None:
    """A listening socket on one address; ``None`` if this machine does not have it. Raises ``OSError``."""
    both = family == socket.AF_INET6 and host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        # In a container "localhost" is often an address of IPv6 too, where there is no IPv6.
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        raise


def unix_socket(path: Path) -> socket.socket:
    """A listening socket at ``path``; one that a killed server has left is replaced. Raises ``ConfigError``."""
    if not hasattr(socket, "AF_UNIX"):
        raise ConfigError("expected a system with unix sockets for --uri unix://PATH; use tcp://127.0.0.1:PORT")
    try:
        if path.exists():
            if not stat.S_ISSOCK(path.stat().st_mode):
                raise ConfigError(f"expected a socket or nothing at {path}, found something else; choose another path")
            if _answers(path):
                raise ConfigError(f"expected to listen at {path}, but another server does; choose another path")
            path.unlink()
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(str(path))
        server.listen(128)
    except OSError as error:
        raise ConfigError(f"expected to listen at {path}, could not: {error.strerror or error}") from None
    return server


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex(str(path)) == 0


def networks_of(texts: Sequence[str], option: str = "--allow") -> list[Network]:
    """Read the networks of an option. Raises ``ConfigError``."""
    networks = []
    for text in texts:
        try:
            networks.append(ip_network(text.removeprefix("::ffff:"), strict=False))
        except ValueError:
            raise ConfigError(f"expected {option} NETWORK, for instance 192.168.1.0/24, got {text!r}") from None
    return networks


def address_of(peer: str) -> str:
    """The address of a client, ``HOST:PORT``; one of IPv4 as such, though a socket for both families reports it as IPv6."""
    return (peer.rpartition(":")[0] or peer).removeprefix("::ffff:")


def is_loopback(address: str) -> bool:
    """Whether only programs of this machine can reach this address."""
    ip = ip_address(address.partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def is_allowed(address: str, networks: Sequence[Network]) -> bool:
    """Whether a client of that address may connect: anyone if no networks are named."""
    if not networks:
        return True
    try:
        client = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    # A socket for both families reports clients of IPv4 as addresses of IPv6.
    mapped = getattr(client, "ipv4_mapped", None)
    return any((mapped or client) in network for network in networks)


def has_left(writer: asyncio.StreamWriter) -> bool:
    """Whether the client sends no more, which no one who does not read is told; ``False`` where no system call says it."""
    connection = writer.get_extra_info("socket")
    if connection is None or writer.is_closing() or not hasattr(select, "POLLRDHUP"):
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLRDHUP)
    return bool(poll.poll(0))
