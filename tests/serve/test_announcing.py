"""The announcement in the local network: a real address only, and what a browser of the network reads."""

import asyncio
import ipaddress
import socket
import uuid
from collections.abc import Callable
from functools import partial
from typing import ClassVar
from unittest.mock import Mock

import pytest

pytest.importorskip("zeroconf", reason="needs the packages of pip install '.[serve]'")

from zeroconf import NonUniqueNameException, ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from wakeword import ConfigError
from wakeword_serve import announcing
from wakeword_serve.addresses import tcp_socket
from wakeword_serve.announcing import SERVICE, Announcement, host_name, route_address

OWN = "192.168.1.7"


@pytest.mark.parametrize(("bound", "address"), [("0.0.0.0", OWN), ("::", OWN), ("192.168.1.8", "192.168.1.8")])
def test_the_address_is_one_at_which_others_reach_it(monkeypatch: pytest.MonkeyPatch, bound: str, address: str) -> None:
    monkeypatch.setattr(announcing, "route_address", lambda: OWN)
    listening = Mock(getsockname=lambda: (bound, 10_400))
    assert Announcement("kitchen", listening).info().parsed_addresses() == [address]


def test_the_address_of_the_route_is_a_real_one() -> None:
    try:
        address = ipaddress.ip_address(route_address())
    except OSError:
        pytest.skip("this machine has no network")
    assert not address.is_unspecified


def test_a_server_for_this_machine_alone_is_not_announced() -> None:
    listening = tcp_socket("127.0.0.1", 0)
    with listening, pytest.raises(ConfigError, match="others can reach"):
        Announcement("kitchen", listening)


@pytest.mark.parametrize("name", ["", " ", "x" * 64, "a\nb"])
def test_names_that_the_network_cannot_carry_are_refused(name: str) -> None:
    listening = tcp_socket("0.0.0.0", 0)
    with listening, pytest.raises(ConfigError, match="--zeroconf-name"):
        Announcement(name, listening)


def test_a_browser_of_the_network_finds_it_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcing, "route_address", lambda: OWN)
    monkeypatch.setattr(announcing, "AsyncZeroconf", partial(AsyncZeroconf, interfaces=["127.0.0.1"]))
    name = f"wakeword test {uuid.uuid4().hex[:8]}"

    async def scenario() -> tuple[AsyncServiceInfo, int]:
        listening = tcp_socket("0.0.0.0", 0)
        seen: dict[ServiceStateChange, asyncio.Event] = {change: asyncio.Event() for change in ServiceStateChange}

        def changed(zeroconf: object, service_type: str, name: str, state_change: ServiceStateChange) -> None:
            if name.startswith("wakeword test"):
                seen[state_change].set()

        browser_side = AsyncZeroconf(interfaces=["127.0.0.1"])
        browser = AsyncServiceBrowser(browser_side.zeroconf, SERVICE, handlers=[changed])
        announcement = Announcement(name, listening)
        task = asyncio.create_task(announcement.run())
        try:
            async with asyncio.timeout(20):
                await seen[ServiceStateChange.Added].wait()
            info = AsyncServiceInfo(SERVICE, f"{name}.{SERVICE}")
            assert await info.async_request(browser_side.zeroconf, 5_000)
            task.cancel()
            async with asyncio.timeout(20):
                await seen[ServiceStateChange.Removed].wait()
            return info, listening.getsockname()[1]
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await browser.async_cancel()
            await browser_side.async_close()
            listening.close()

    if not _multicast():
        pytest.skip("this machine's loopback device carries no multicast")
    info, port = asyncio.run(scenario())
    assert info.parsed_addresses() == [OWN]
    assert info.port == port
    assert info.server == f"{host_name()}.local."


class Network:
    """Stands for ``AsyncZeroconf``: one is made for each address, and those made are in ``all``."""

    all: ClassVar[list["Network"]] = []

    def __init__(self, **settings: object) -> None:
        self.announced: list[list[str]] = []
        self.closed = False
        self.all.append(self)

    async def async_register_service(self, info: AsyncServiceInfo, **settings: object) -> asyncio.Future[None]:
        self.announced.append(info.parsed_addresses())
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def async_unregister_all_services(self) -> None:
        pass

    async def async_close(self) -> None:
        self.closed = True


async def announced_until(condition: Callable[[], bool]) -> None:
    """Announce a server on all addresses until the condition holds."""
    listening = tcp_socket("0.0.0.0", 0)
    with listening:
        task = asyncio.create_task(Announcement("kitchen", listening).run())
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_machine_without_a_network_is_told_of_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[Exception] = [OSError(19, "No such device")] * 2 + [NonUniqueNameException()]

    def network(**settings: object) -> Network:
        if failures:
            raise failures.pop(0)
        return Network(**settings)

    monkeypatch.setattr(announcing, "route_address", lambda: OWN)
    monkeypatch.setattr(announcing, "_REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(announcing, "AsyncZeroconf", network)
    monkeypatch.setattr(Network, "all", [])
    asyncio.run(announced_until(lambda: bool(Network.all and Network.all[0].announced)))
    told = [record.getMessage() for record in caplog.records if "could not be announced" in record.getMessage()]
    assert len(told) == 2
    assert "No such device" in told[0]
    assert "NonUniqueNameException" in told[1]


def test_an_address_that_changes_is_announced_on_its_own_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [OWN]
    monkeypatch.setattr(announcing, "route_address", lambda: own[0])
    monkeypatch.setattr(announcing, "_REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(announcing, "AsyncZeroconf", Network)
    monkeypatch.setattr(Network, "all", [])

    async def scenario() -> None:
        def ready() -> bool:
            if len(Network.all) == 2:
                return bool(Network.all[1].announced)
            own[0] = "192.168.1.9" if Network.all and Network.all[0].announced else OWN
            return False

        await announced_until(ready)

    asyncio.run(scenario())
    assert [one.announced for one in Network.all] == [[[OWN]], [["192.168.1.9"]]]
    assert all(one.closed for one in Network.all)


def _multicast() -> bool:
    """Whether what one socket sends to the group of mDNS on the loopback device reaches another."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(type=socket.SOCK_DGRAM) as sender:
        try:
            receiver.bind(("", 0))
            membership = socket.inet_aton("224.0.0.251") + socket.inet_aton("127.0.0.1")
            receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
            receiver.settimeout(2)
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            sender.sendto(b"?", ("224.0.0.251", receiver.getsockname()[1]))
            return receiver.recv(1) == b"?"
        except OSError:
            return False
