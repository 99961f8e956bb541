"""Where the server listens: the addresses of its options as sockets."""

import errno
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from wakeword.base.errors import ConfigError

DEFAULT_PORT = 10_400
"""The port of wake-word services in Home Assistant."""

Network = IPv4Network | IPv6Network

SUPERVISOR = IPv4Network("172.30.32.2/32")
"""Home Assistant in the network of its add-ons: ingress comes from there alone (its documentation, "Presentation")."""


def host_and_port(
    text: str, option: str = "--http ", instance: str = "127.0.0.1:10401", default: int | None = None
) -> tuple[str, int]:
    """Read the ``HOST:PORT`` of an option; the host of an IPv6 address is in brackets. Raises ``ConfigError``.

    ``default``: the port of a host without one; ``None`` if there must be one.
    """
    expected = f"expected {option}HOST:PORT, for instance {instance}, got {text!r}"
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, default if parts.port is None else parts.port
    except ValueError as error:
        raise ConfigError(f"{expected} ({error})") from None
    if not host or port is None or parts.path or parts.query or parts.fragment:
        raise ConfigError(expected)
    return host, port


def tcp_socket(host: str, port: int) -> socket.socket:
    """A listening socket on an address of a host, one of IPv4 if it has any; ``::`` takes IPv4 as well.

    With port 0 the system chooses one. Raises ``ConfigError``, also if the address is not of this machine.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # the latter for what can be no name, for instance "a..b"
        reason = error.strerror if isinstance(error, OSError) else "no name of a host"
        raise ConfigError(f"expected the address of this machine, got {host!r}: {reason}") from None
    # In a container "localhost" is often an address of IPv6 too, where there is no IPv6.
    family, _, _, _, (address, *_) = min(found, key=lambda row: row[0] != socket.AF_INET)
    both = address == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((str(address), port), family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        hint = "; another program has it, choose another port" if error.errno == errno.EADDRINUSE else ""
        hint = f"; {address} is not of this machine" if error.errno == errno.EADDRNOTAVAIL else hint
        raise ConfigError(f"expected to listen on {host} port {port}, could not: {error.strerror}{hint}") from None


def networks_of(texts: Sequence[str], option: str = "--allow") -> list[Network]:
    """Read the networks of an option. Raises ``ConfigError``."""
    networks = []
    for text in texts:
        try:
            networks.append(ip_network(text.removeprefix("::ffff:"), strict=False))
        except ValueError:
            raise ConfigError(f"expected {option} NETWORK, for instance 192.168.1.0/24, got {text!r}") from None
    return networks


def _ip_of(address: str) -> IPv4Address | IPv6Address:
    """The address without its zone; a socket for both families reports one of IPv4 as one of IPv6."""
    ip = ip_address(address.partition("%")[0])
    return getattr(ip, "ipv4_mapped", None) or ip


def is_loopback(address: str) -> bool:
    """Whether only programs of this machine can reach this address."""
    return _ip_of(address).is_loopback


def is_allowed(address: str, networks: Sequence[Network]) -> bool:
    """Whether a client of that address may connect: anyone if no networks are named."""
    if not networks:
        return True
    try:
        return any(_ip_of(address) in network for network in networks)
    except ValueError:
        return False
