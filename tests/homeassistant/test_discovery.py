"""A server in the network is offered without a host or port being typed."""

import asyncio
import re
from pathlib import Path

import pytest
import pytest_socket
from homeassistant.config_entries import SOURCE_ZEROCONF
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
from servers import WakeServer
from test_wake_words import detect
from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

SERVICE = "_wyoming._tcp.local."
"""What Home Assistant looks for."""


async def own_address(server: WakeServer, seconds: float) -> str | None:
    """The address of this machine that the server says it announces; none where it cannot."""
    for _ in range(round(seconds * 10)):
        if found := re.search(r"announced as .* at (\d+\.\d+\.\d+\.\d+)", server.log.read_text()):
            return found[1]
        await asyncio.sleep(0.1)
    return None


async def announced(port: int, interface: str) -> AsyncServiceInfo:
    """What the server with that port announces to the network of an address."""
    names: asyncio.Queue[str] = asyncio.Queue()

    def changed(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is ServiceStateChange.Added:
            names.put_nowait(name)

    async with AsyncZeroconf(interfaces=[interface]) as zeroconf:
        browser = AsyncServiceBrowser(zeroconf.zeroconf, SERVICE, handlers=[changed])
        try:
            async with asyncio.timeout(60):
                while True:
                    info = AsyncServiceInfo(SERVICE, await names.get())
                    if await info.async_request(zeroconf.zeroconf, 3_000) and info.port == port:
                        return info
        finally:
            await browser.async_cancel()


async def test_a_server_is_discovered_and_works(
    home: HomeAssistant, server: WakeServer, tmp_path: Path, demo: bytes
) -> None:
    arguments = ["--keyword", "marvin", "--zeroconf"]
    with WakeServer(server.python, arguments, log=tmp_path / "zeroconf.log", host="0.0.0.0") as announcing:
        address = await own_address(announcing, 30)
        if address is None:
            pytest.skip("this machine is in no network in which services can be announced")
        info = await announced(announcing.port, address)
        first, *_ = info.ip_addresses_by_version(IPVersion.All)
        # Home Assistant drops a service that has no address of its own.
        assert not first.is_unspecified
        # The test harness lets nothing but 127.0.0.1 through.
        pytest_socket.socket_allow_hosts(["127.0.0.1", str(first)])
        found = ZeroconfServiceInfo(
            ip_address=first,
            ip_addresses=info.ip_addresses_by_version(IPVersion.All),
            port=info.port or 0,
            hostname=info.server or "",
            type=SERVICE,
            name=info.name,
            properties={},
        )
        flow = await home.config_entries.flow.async_init("wyoming", context={"source": SOURCE_ZEROCONF}, data=found)
        assert flow["type"] is FlowResultType.FORM, flow
        done = await home.config_entries.flow.async_configure(flow["flow_id"], {})
        assert done["type"] is FlowResultType.CREATE_ENTRY, done
        await home.async_block_till_done()
        (entity,) = home.states.async_entity_ids("wake_word")
        assert await detect(home, entity, demo, "marvin") is not None
