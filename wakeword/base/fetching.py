"""Files from addresses: over https, wherever a server sends on to, and never more than is wanted."""

import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.parse import unquote, urlsplit

from wakeword.base.errors import ConfigError, WakewordError
from wakeword.base.text import printable, shortened
from wakeword.base.version import __version__

NPM = "https://registry.npmjs.org"
_BLOCK = 2**20
_TIMEOUT = 60.0
"""Seconds that a server may take for an answer."""


def fetched(address: str, *, most: int, failure: type[WakewordError]) -> Iterator[bytes]:
    """The blocks of the file at an https address.

    Raises ``ConfigError`` for another address and where a server sends on to one, and ``failure`` if the file cannot be got
    or has more than ``most`` bytes.
    """
    if not _is_safe(address):
        raise ConfigError(
            f"expected an address that begins with https://, in ASCII (%C3%AB for ë), got {shortened(repr(address), 200)}"
        )
    request = urllib.request.Request(address, headers={"User-Agent": f"wakeword/{__version__}"})
    length = 0
    try:
        with urllib.request.build_opener(_Redirects).open(request, timeout=_TIMEOUT) as answer:
            # Counted, as a length that the server declares need not be true.
            while block := answer.read(_BLOCK):
                length += len(block)
                if length > most:
                    raise failure(f"{printable(address)}: expected at most {most} bytes, got more")
                yield block
    except WakewordError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise failure(
            f"could not download {unquote(printable(address))}: {shortened(reason, 300)}; check the address and the network"
        ) from error


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections to addresses that could have been given only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if not _is_safe(newurl):
            raise ConfigError(f"expected an https address, was sent on to {shortened(newurl)}; nothing was downloaded")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" and bool(parts.hostname) and address.isascii()
    except ValueError:
        return False
