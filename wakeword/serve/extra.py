"""The packages that only the server needs."""

from importlib.util import find_spec

from wakeword.base.errors import ConfigError

PACKAGES = ("wyoming", "zeroconf", "ifaddr", "prometheus_client")


def require_extra() -> None:
    """``ConfigError`` unless the packages of the server are installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"expected the packages that `wakeword serve` needs, did not find {', '.join(missing)}; "
            "install them with: pip install '.[serve]'"
        )
