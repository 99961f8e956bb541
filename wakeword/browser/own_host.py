"""The names of this machine in the requests of a browser."""

import re
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from wakeword.base.errors import ConfigError

_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_LOCAL_DOMAINS = (".local", ".lan", ".internal", ".home.arpa")
"""Domains that no one can own in the public DNS."""


def host_names_of(texts: Sequence[str]) -> list[str]:
    """Read the names of ``--http-name``. Raises ``ConfigError``."""
    names = [text.lower().removesuffix(".") for text in texts]
    for text, name in zip(texts, names, strict=True):
        if not _NAME.fullmatch(name):
            raise ConfigError(f"expected --http-name NAME without a port, for instance wake.example.org, got {text!r}")
    return names


def is_own_host(header: str, names: Sequence[str] = ()) -> bool:
    """Whether the value of a ``Host`` header can only mean this machine.

    That is an address, ``localhost`` or another name of one label, a name of a local domain, or one of ``names``, as
    ``host_names_of`` returns them. Any other may be the name of a web site that its owner has let lead here, so that a
    browser gives that site's scripts the answers (DNS rebinding).
    """
    if not re.fullmatch(r"[^@/?#\\\s]+", header):
        return False
    try:
        host = (urlsplit(f"//{header}").hostname or "").removesuffix(".")
    except ValueError:
        return False
    with suppress(ValueError):
        ip_address(host)
        return True
    local = "." not in host or host.endswith(_LOCAL_DOMAINS)
    return (local or host in names) and bool(_NAME.fullmatch(host))
