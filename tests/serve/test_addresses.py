"""Where the server listens, and who may connect."""

import socket

import pytest

from wakeword import ConfigError
from wakeword_serve.addresses import host_and_port, is_allowed, is_loopback, networks_of, tcp_socket

HAS_IPV6 = socket.has_dualstack_ipv6()


def test_a_port_may_be_left_out_where_there_is_a_default() -> None:
    assert host_and_port("0.0.0.0", default=9) == ("0.0.0.0", 9)
    assert host_and_port("[::]:7", default=9) == ("::", 7)


def test_http_needs_a_host_and_a_port() -> None:
    assert host_and_port("127.0.0.1:10401") == ("127.0.0.1", 10_401)
    assert host_and_port("[::1]:0") == ("::1", 0)
    for text in ("", "10401", ":10401", "host", "host:x", "host:1/path", "[::1"):
        with pytest.raises(ConfigError, match="expected --http"):
            host_and_port(text)


def test_a_port_that_is_taken_is_said() -> None:
    first = tcp_socket("127.0.0.1", 0)
    with first, pytest.raises(ConfigError, match="another port"):
        tcp_socket("127.0.0.1", first.getsockname()[1])
    for host in ("no such host.invalid", "a..b", "a" * 64, "\ud800"):
        with pytest.raises(ConfigError, match="address of this machine"):
            tcp_socket(host, 1)


def test_a_name_is_an_address_of_ipv4_if_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = (socket.SOCK_STREAM, 6, "")
    addresses = [(socket.AF_INET6, *kind, ("::1", 0, 0, 0)), (socket.AF_INET, *kind, ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    with tcp_socket("localhost", 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
    addresses[:] = [(socket.AF_INET, *kind, ("192.0.2.1", 0))]
    with pytest.raises(ConfigError, match=r"elsewhere\.example port 0.*192\.0\.2\.1 is not of this machine"):
        tcp_socket("elsewhere.example", 0)


def test_only_this_machine_has_loopback_addresses() -> None:
    for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert is_loopback(address)
    for address in ("0.0.0.0", "::", "192.168.1.1", "fe80::1%eth0"):
        assert not is_loopback(address)


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6")
def test_all_addresses_are_those_of_both_families() -> None:
    listening = tcp_socket("::", 0)
    port = listening.getsockname()[1]
    with listening:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, port), 5) as client:
                assert client.getpeername()[1] == port


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
