"""The versions of one model file: each that was put in its place, its predecessor, and what was measured.

They are in the folder ``NAME.versions`` next to ``NAME.onnx``: a copy of each under its SHA-256, and ``history.json``. The
version in force is the one in the model file and is not written down: whatever interrupts a change, the history is true.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from wakeword.base.errors import ConfigError, ModelError
from wakeword.base.exclusive import alone_with
from wakeword.base.files import DAMAGED, read_json, read_limited, remove_abandoned, write_json, write_whole
from wakeword.model.model import MAX_FILE_BYTES, parse_model, read_model_bytes

_MOST_HISTORY = 2**20


@dataclass(frozen=True)
class Version:
    """One version of a model."""

    sha256: str
    """SHA-256 of the file, in hex."""
    parent: str | None
    """The version that it replaced; ``None`` for the first one."""
    installed: str
    """UTC, in ISO 8601; empty until it is in its place."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What was measured when it was put into place."""
    renews: str | None = None
    """SHA-256 of the version that it is, made for this version of the program."""


class Versions:
    """The versions of the model in ``path``. Raises ``ModelError`` if that cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_suffix(".versions")
        self._data = read_model_bytes(path)
        self.current = hashlib.sha256(self._data).hexdigest()
        """SHA-256 of the file when it was read."""

    def history(self) -> list[Version]:
        """The version in force and those before it, the newest first; one alone for a model that was never replaced."""
        known = {one.sha256: one for one in self._known()}
        found = [known.get(self.current, Version(self.current, None, ""))]
        while (parent := found[-1].parent) in known and known[parent] not in found:
            found.append(known[parent])
        return found

    def undone(self) -> list[Version]:
        """The versions that were put into place and that the one in force does not follow; not those that never were.

        Nor those that were renewed: what counts is whether their renewal was undone.
        """
        known, now = self._known(), {one.sha256 for one in self.history()}
        spared = now | {one.renews for one in known if one.installed or one.sha256 in now}
        return [one for one in known if one.installed and one.sha256 not in spared]

    def first(self) -> bytes:
        """The bytes of the first version. ``ModelError`` if its copy is gone or damaged."""
        return self._bytes_of(self.history()[-1].sha256)

    def replace(self, data: bytes, figures: Mapping[str, float]) -> None:
        """Put a new version into place; the one in force before is kept.

        The model file changes at once, by a rename, after all else is written. Raises ``ConfigError`` if the file was
        changed meanwhile, or another process changes it, ``ModelError`` for what is no model and ``OSError``.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        # A version that comes back follows what it followed, as if those after it were undone: no circle.
        parent = {one.sha256: one.parent for one in self.history()}.get(sha256, self.current)
        self._install([(Version(sha256, parent, "", dict(figures)), data)])

    def renew(self, renewed: Callable[[bytes], bytes]) -> bool:
        """Put what ``renewed`` makes of the version in force into its place; whether that is anything new.

        So for each version before it, as ``undo`` and ``first`` need them. One with a copy that is gone or damaged stays
        so. Raises as ``replace`` does, and what ``renewed`` raises.
        """
        if renewed(self._data) == self._data:
            return False
        made: list[tuple[Version, bytes]] = []
        parent = None
        for one in reversed(self.history()):
            with suppress(ModelError):  # not of the one in force, which was made above
                data = renewed(self._bytes_of(one.sha256))
                one = Version(hashlib.sha256(data).hexdigest(), parent, "", one.figures, one.sha256)
                made.append((one, data))
            parent = one.sha256
        self._install(made)
        return True

    def undo(self) -> Version:
        """Put the predecessor back. Raises ``ConfigError`` if there is none, and as ``replace`` does."""
        _, *before = self.history()
        if not before:
            raise ConfigError(f"{self.path}: expected a version before this one, found none; nothing was undone")
        data = self._bytes_of(before[0].sha256)
        with alone_with(self.folder / "lock", output=self.path):
            self._write([])
            self._put(data)
        return before[0]

    def _install(self, made: Sequence[tuple[Version, bytes]]) -> None:
        """Put the last of these versions into place; those before it are its history."""
        self.folder.mkdir(0o700, exist_ok=True)
        with alone_with(self.folder / "lock", output=self.path):
            remove_abandoned([self.path])
            for left in self.folder.glob(".*.????????.*"):  # by ``replacing``, in a process that was killed
                left.unlink(missing_ok=True)
            for data in (self._data, *(data for _, data in made)):
                parse_model(data)
                write_whole(self._copy(hashlib.sha256(data).hexdigest()), data)
            # First as those on their way: if the file is not changed, they were never there to be undone.
            self._write([replace(one, installed="") for one, _ in made])
            self._put(made[-1][1])
            self._write([])

    def _write(self, new: Sequence[Version]) -> None:
        """Write the history with new versions. The one in force was installed, as were those that it follows.

        That need not be written yet: a process can be killed between the two.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        followed = [replace(one, installed=one.installed or now) for one in self.history()]
        last = {one.sha256: asdict(one) for one in (*self._known(), *followed, *new)}
        write_json(self.folder / "history.json", list(last.values()))

    def _put(self, data: bytes) -> None:
        if hashlib.sha256(read_model_bytes(self.path)).hexdigest() != self.current:
            raise ConfigError(f"{self.path}: the model was replaced meanwhile, and stays as it is; try again")
        write_whole(self.path, data)
        self._data, self.current = data, hashlib.sha256(data).hexdigest()

    def _bytes_of(self, sha256: str) -> bytes:
        if sha256 == self.current:
            return self._data
        with suppress(OSError, ValueError):
            data = read_limited(self._copy(sha256), MAX_FILE_BYTES)
            if hashlib.sha256(data).hexdigest() == sha256:
                return data
        raise ModelError(
            f"{self._copy(sha256)}: expected the version before, found none or a damaged one; install the model again"
        )

    def _copy(self, sha256: str) -> Path:
        # Not ``.onnx``: a server follows the model files of a folder.
        return self.folder / f"{sha256[:16]}.model"

    def _known(self) -> list[Version]:
        """All versions that were ever put into place; none if the history is missing or damaged."""
        with suppress(OSError, *DAMAGED):
            content = read_json(self.folder / "history.json", _MOST_HISTORY)
            return [
                Version(
                    str(one["sha256"]),
                    None if one["parent"] is None else str(one["parent"]),
                    str(one["installed"]),
                    {str(name): float(value) for name, value in one["figures"].items()},
                    None if one.get("renews") is None else str(one["renews"]),
                )
                for one in content
            ]
        return []
