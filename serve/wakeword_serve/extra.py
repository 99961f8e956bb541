"""The packages that only the server needs."""

from wakeword.base.plugins import require


def require_extra() -> None:
    """``ConfigError`` unless the packages of the server are installed."""
    require("serve", "wyoming", "zeroconf", "ifaddr", "prometheus_client")
