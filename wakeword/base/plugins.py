"""What installed packages offer by entry points: one way to list and to load it; and which packages must be there."""

import importlib.util
from importlib import import_module
from typing import Any, Protocol, TypeVar

from wakeword.base.errors import ConfigError, WakewordError, raising


class _Named(Protocol):
    """A record, which is known by its name."""

    @property
    def name(self) -> str: ...


RecordT = TypeVar("RecordT", bound=_Named)


def plugin_names(group: str) -> list[str]:
    """The names that installed packages offer in a group of entry points, in order."""
    # Imported here: it takes 15 ms, and most programs use what is built in.
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=group)})


def load_plugin(group: str, name: str, error: type[WakewordError], *, kind: type[RecordT]) -> RecordT | None:
    """The record that a package offers under ``name``, which must be its own; ``None`` if no package does.

    Raises ``error`` for anything of another ``kind``, and for a package that cannot be imported.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        # Importing a package can raise any exception.
        with raising(error, f"{name}: could not load {point.value}", Exception, SystemExit):
            found = point.load()
        if not isinstance(found, kind) or found.name != name:
            raise error(f"expected the {kind.__name__} of that name, {name!r}, at {point.value}, got {found!r:.200}")
        return found
    return None


def require(extra: str, *packages: str, error: type[WakewordError] = ConfigError) -> None:
    """Raise an error if packages are missing that an extra of this project installs."""
    missing = [name.replace("_", "-") for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        how = f'pip install "wakeword[{extra}]"'
        if extra == "train" and importlib.util.find_spec("torch") is None:
            # Asked for by another package it may come as another, larger build.
            how = f"install torch first, in the build for your machine, then: {how}"
        raise error(f"packages are missing: {', '.join(missing)}; {how}")


def load_part(place: str) -> Any:
    """What stands at ``module:name`` of a package of this project, which the extra of the same name installs.

    Raises ``ConfigError`` if it is not installed.
    """
    module, name = place.split(":")
    package = module.split(".")[0]
    require(extra_of(package), package)
    return getattr(import_module(module), name)


def extra_of(package: str) -> str:
    """The extra of ``wakeword`` that installs a package of this project; empty for ``wakeword`` itself."""
    return package.removeprefix("wakeword").removeprefix("_")
