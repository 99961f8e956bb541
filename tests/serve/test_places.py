"""Where the server listens, and who may connect."""

import socket
import tempfile
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword_serve.places import (
    Place,
    host_and_port,
    is_allowed,
    is_loopback,
    networks_of,
    place_of,
    tcp_sockets,
    unix_socket,
)

HAS_IPV6 = socket.has_dualstack_ipv6()


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("tcp://127.0.0.1:10400", Place("tcp", "127.0.0.1", 10_400)),
        ("tcp://0.0.0.0", Place("tcp", "0.0.0.0", 10_400)),
        ("tcp://[::]:9", Place("tcp", "::", 9)),
        ("unix:///run/wake.sock", Place("unix", path=Path("/run/wake.sock"))),
        ("unix://wake.sock", Place("unix", path=Path("wake.sock"))),
        ("stdio://", Place("stdio")),
    ],
)
def test_uris_are_read(uri: str, place: Place) -> None:
    assert place_of(uri) == place


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "127.0.0.1:10400",
        "http://a:1",
        "tcp://:1",
        "tcp://a:x",
        "tcp://a:99999",
        "unix://",
        "unix:///a?b",
        "tcp://a#b",
    ],
)
def test_other_uris_are_refused(uri: str) -> None:
    with pytest.raises(ConfigError, match="expected --uri"):
        place_of(uri)


def test_http_needs_a_host_and_a_port() -> None:
    assert host_and_port("127.0.0.1:10401") == ("127.0.0.1", 10_401)
    assert host_and_port("[::1]:0") == ("::1", 0)
    for text in ("", "10401", ":10401", "host", "host:x", "host:1/path", "[::1"):
        with pytest.raises(ConfigError, match="expected --http"):
            host_and_port(text)


def test_a_port_that_is_taken_is_said() -> None:
    (first,) = tcp_sockets("127.0.0.1", 0)
    with first, pytest.raises(ConfigError, match="another port"):
        tcp_sockets("127.0.0.1", first.getsockname()[1])
    for host in ("no such host.invalid", "a..b", "a" * 64, "\ud800"):
        with pytest.raises(ConfigError, match="address of this machine"):
            tcp_sockets(host, 1)


def test_a_name_is_all_its_addresses_that_this_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = (socket.SOCK_STREAM, 6, "")
    addresses = [(socket.AF_INET, *kind, ("127.0.0.1", 0)), (socket.AF_INET, *kind, ("192.0.2.1", 0))]
    if HAS_IPV6:
        addresses.append((socket.AF_INET6, *kind, ("::1", 0, 0, 0)))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    sockets = tcp_sockets("localhost", 0)
    try:
        names = [one.getsockname() for one in sockets]
        assert [name[0] for name in names] == ["127.0.0.1", *(["::1"] if HAS_IPV6 else [])]
        assert len({name[1] for name in names}) == 1
    finally:
        for one in sockets:
            one.close()
    del addresses[0], addresses[1:]
    with pytest.raises(ConfigError, match="address of this machine") as caught:
        tcp_sockets("elsewhere.example", 0)
    assert "192.0.2.1" in str(caught.value)


def test_only_this_machine_has_loopback_addresses() -> None:
    for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert is_loopback(address)
    for address in ("0.0.0.0", "::", "192.168.1.1", "fe80::1%eth0"):
        assert not is_loopback(address)


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6")
def test_all_addresses_are_those_of_both_families() -> None:
    (listening,) = tcp_sockets("::", 0)
    port = listening.getsockname()[1]
    with listening:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, port), 5) as client:
                assert client.getpeername()[1] == port


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no unix sockets")
def test_a_socket_that_a_killed_server_left_is_replaced_and_nothing_else() -> None:
    # Paths of sockets must be short.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wake.sock"
        first = unix_socket(path)
        with pytest.raises(ConfigError, match="another server"):
            unix_socket(path)
        first.close()
        assert path.exists()
        unix_socket(path).close()
        path.unlink()
        path.write_text("a file of the user's")
        with pytest.raises(ConfigError, match="something else"):
            unix_socket(path)
        assert path.read_text() == "a file of the user's"


def test_networks_decide_who_may_connect() -> None:
    networks = networks_of(["192.168.1.0/24", "10.0.0.7", "fd00::/8"])
    for address in ("192.168.1.9", "::ffff:192.168.1.9", "10.0.0.7", "fd00::1", "fd00::1%eth0"):
        assert is_allowed(address, networks)
        assert is_allowed(address, [])
    for address in ("192.168.2.9", "::ffff:10.0.0.8", "fe80::1", "", "unix"):
        assert not is_allowed(address, networks)
    for text in ("", "192.168.1.0/33", "home"):
        with pytest.raises(ConfigError, match="expected --allow"):
            networks_of([text])
        with pytest.raises(ConfigError, match="expected --http-allow"):
            networks_of([text], "--http-allow")
