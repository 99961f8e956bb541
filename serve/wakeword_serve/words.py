"""The words that the server offers: its models, loaded once and shared by all connections."""

import copy
import dataclasses
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wyoming.info import Attribution, Info, WakeModel, WakeProgram

from wakeword.base.errors import ConfigError, WakewordError
from wakeword.base.version import __version__
from wakeword.cli.options import PointOptions
from wakeword.format.point_warnings import warnings_of
from wakeword.model.loading import chosen_thresholds
from wakeword.model.model import Model, read_model
from wakeword_serve.wire import encode

logger = logging.getLogger("wakeword.serve")

_ATTRIBUTION = Attribution(name="wakeword", url="")

Signature = tuple[int, int, int, int]
"""Times of modification and change, size and number of a file: they change when it is replaced, or may be read at last."""


@dataclass(frozen=True)
class OfferedWord:
    """A word that the server offers."""

    name: str
    """By which clients choose it and detections report it: the name of its file, as phrases need not differ."""
    phrase: str
    version: str
    model: Model
    """With ``name`` in place of the phrase, by which a detector tells its models apart."""
    threshold: float
    promise: float | None = None
    """False accepts an hour that its operating point promises; ``None`` for a point that counts clips, or none."""
    warnings: tuple[str, ...] = ()
    """What its operating point does not promise."""


@dataclass(frozen=True)
class _File:
    signature: Signature
    """Signature of what was tried last."""
    word: OfferedWord | None
    """Its word in force; ``None`` if there never was one."""
    is_refused: bool
    """Whether what was tried last cannot be used."""


def load_word(path: Path, points: PointOptions) -> OfferedWord:
    """Load a model file. Raises ``ModelError`` and ``ConfigError`` if it cannot be used with these options."""
    model = read_model(path)
    if not points.verify:
        model = model.stage_one()
    _ = model.second_stage  # loaded now: a detection must not wait for it, nor fail
    (threshold,) = chosen_thresholds([model], points.point, points.threshold)
    card = model.card
    # A threshold of the user's own promises nothing.
    point = None if points.threshold is not None else card.point(points.point)
    limits = () if point is None else tuple(warnings_of([(card.phrase, point)]))
    promise = point.target if point is not None and point.kind == "fa_per_hour" else None
    named = copy.copy(model)
    named.card = dataclasses.replace(card, phrase=path.stem)
    return OfferedWord(path.stem, card.phrase, card.version, named, threshold, promise, limits)


def _log_limits(word: OfferedWord) -> None:
    """Say what the operating point of a word does not promise."""
    for line in word.warnings:
        logger.warning("%s", line.removeprefix("warning: "))


PLAYBACK_TEXT = "; of audio with two channels the second is what the loudspeaker plays"


def info_of(words: Iterable[OfferedWord], *, playback: bool = False) -> bytes:
    """The answer to ``describe``, encoded: one program with all words, as Home Assistant reads only one.

    Wyoming has no field for a ``playback`` channel, so the description says it.
    """
    known = [
        WakeModel(
            name=word.name,
            attribution=_ATTRIBUTION,
            installed=True,
            description=word.phrase,
            version=word.version,
            languages=[],
            phrase=word.phrase,
        )
        for word in words
    ]
    program = WakeProgram(
        name="wakeword",
        attribution=_ATTRIBUTION,
        installed=True,
        description="wakeword: wake words, found offline" + (PLAYBACK_TEXT if playback else ""),
        version=__version__,
        models=known,
    )
    return encode(Info(wake=[program]).event())


class OfferedWords:
    """The words in force by their names, and the answer to ``describe``.

    ``files`` are models that must load: raises ``ModelError`` and ``ConfigError`` as ``load_word`` does, and
    ``ConfigError`` unless their names differ. ``folder`` is read by ``refresh``. ``points`` are in force for all.
    ``playback``: whether clients are told that a second channel is what their loudspeaker gets.
    """

    def __init__(
        self, files: Sequence[Path], folder: Path | None, points: PointOptions, *, playback: bool = False
    ) -> None:
        names = [path.stem for path in files]
        if len(set(names)) != len(names):
            raise ConfigError(f"expected model files with different names, got {names}; rename one")
        if folder is not None and not folder.is_dir():
            raise ConfigError(f"{folder}: expected a folder of model files for --models, found none; check the path")
        self._points, self._playback = points, playback
        self._folder = folder
        self._fixed = {path.stem: load_word(path, points) for path in files}
        self._found: dict[Path, _File] = {}
        self._seen: dict[Path, Signature] = {}
        self._away = False
        for word in self._fixed.values():
            _log_limits(word)
        self._publish()

    def _publish(self) -> None:
        of_folder = {file.word.name: file.word for file in self._found.values() if file.word is not None}
        self.by_name = {**of_folder, **self._fixed}
        """The words in force. Replaced as a whole, never changed: may be read in any thread."""
        self.info = info_of(self.by_name.values(), playback=self._playback)

    @property
    def refused(self) -> int:
        """Files of the folder that cannot be used."""
        return sum(file.is_refused for file in self._found.values())

    def refresh(self, *, at_once: bool = False) -> bool:
        """Look for models that were added to the folder, replaced or removed; return whether the words changed.

        A file is loaded when it has not changed between two calls, as it may be copied slowly, or ``at_once``. One that
        cannot be used is reported once and left out; if it replaces one that could, that one's model stays in force. For
        one thread at a time; slow when there is something to load.
        """
        if self._folder is None:
            return False
        listed = self._listed(self._folder)
        settled = listed if at_once else {path: sign for path, sign in listed.items() if self._seen.get(path) == sign}
        self._seen = listed
        gone = [path for path in self._found if path not in listed]
        new = [path for path, sign in settled.items() if path not in self._found or self._found[path].signature != sign]
        for path in gone:
            if (word := self._found.pop(path).word) is not None:
                logger.info("the model '%s' is gone from %s", word.name, path.parent)
        for path in new:
            before = self._found.get(path, _File((0, 0, 0, 0), None, is_refused=False))
            fresh = self._loaded(path, before)
            self._found[path] = _File(settled[path], fresh or before.word, is_refused=fresh is None)
        if gone or new:
            self._publish()
        return bool(gone or new)

    def _loaded(self, path: Path, before: _File) -> OfferedWord | None:
        try:
            if path.stem in self._fixed:
                raise ConfigError(f"{path}: the name '{path.stem}' is taken by another model; rename the file")
            word = load_word(path, self._points)
        except (WakewordError, OSError) as error:
            message = str(error) if str(path) in str(error) else f"{path}: {error}"
            left = "it is left out" if before.word is None else "the model that it replaces stays in use"
            logger.warning("%s; %s", message, left)
            return None
        if (kept := before.word) and kept.model.digest == word.model.digest:
            word = kept  # the same model, for instance copied there again: no one need change to it
        if word is kept and not before.is_refused:
            return word
        logger.info("the model '%s' (\"%s\") is offered", word.name, word.phrase)
        _log_limits(word)
        return word

    def _listed(self, folder: Path) -> dict[Path, Signature]:
        listed = {}
        try:
            for path in sorted(folder.iterdir()):
                # Files that are being written have names that begin with a dot.
                if path.suffix == ".onnx" and not path.name.startswith("."):
                    try:
                        status = path.stat()
                    except OSError as error:
                        # One that is gone, or a link that leads nowhere, says nothing about the folder.
                        if isinstance(error, FileNotFoundError) or path.is_symlink():
                            continue
                        raise
                    listed[path] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        except OSError as error:
            # A share that is away for a moment: the words stay.
            if not self._away:
                logger.warning("--models: %s: %s; the models in use stay", folder, error.strerror)
            self._away = True
            return {path: file.signature for path, file in self._found.items()}
        self._away = False
        return listed
