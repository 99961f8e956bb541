"""A Wyoming server with its HTTP side in the event loop of a test. Needs the packages of the extra ``serve``."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from support.served import Served, serving
from wakeword import Keeper
from wakeword.audio.detection import Keeps
from wakeword_serve.status_pages import Web, WebSettings


def run(
    scenario: Callable[[Served, Web], Awaitable[Any]],
    *files: Path,
    keep: Keeps | None = None,
    keeper: Keeper | None = None,
    groups: Sequence[str] = (),
    **settings: Any,
) -> Any:
    """Run a scenario with a server of these models and its HTTP side."""

    async def whole() -> Any:
        async with serving(*files, keep=keep, groups=groups) as served:
            with Web(served.server, WebSettings("127.0.0.1", 0, **settings), keeper) as web:
                return await scenario(served, web)

    return asyncio.run(whole())


async def get(
    url: str,
    headers: Mapping[str, str] | None = None,
    data: bytes | None = None,
) -> tuple[int, str, Any]:
    """Status, text and headers of the answer to a request."""

    def ask() -> tuple[int, str, Any]:
        try:
            request = urllib.request.Request(url, data=data, headers=dict(headers or {}))
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode(errors="replace"), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace"), error.headers

    return await asyncio.to_thread(ask)
