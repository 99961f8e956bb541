"""What a sweep trains: words x settings x seeds, from a TOML file."""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.audio.audio_listing import audio_files
from wakeword.base.checks import integer
from wakeword.base.errors import ConfigError
from wakeword_tools.training_record import file_stem
from wakeword_train.config import TrainConfig, build_config, merged, read_tables
from wakeword_train.training_run import DataFolders

_WORD = "{word}"
_LISTS = ("positives", "negatives", "near_negatives", "background", "noise")
_MAX_SEED = 2**32 - 1
_SECONDS = 3600.0
"""For the plan: a training is a batch of its own, and worth a process."""


@dataclass(frozen=True)
class Training:
    """One network to train: a piece of work."""

    word: str
    setting: str
    """Name of the setting."""
    config: TrainConfig
    folders: DataFolders
    stamp: str
    """Of settings and recordings: paths, sizes and times."""

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.word}, {self.setting}, seed {self.config.seed}"

    @property
    def stem(self) -> str:
        """Its name as part of files' names."""
        return f"{file_stem(self.word)}-{file_stem(self.setting)}-{self.config.seed}".replace("/", "_")

    @property
    def size(self) -> float:
        """Epochs, of all first stages."""
        return float(self.config.first_stages * self.config.schedule.epochs)

    @property
    def seconds(self) -> float:
        """For the plan."""
        return _SECONDS


def read_sweep(path: Path) -> list[Training]:
    """The trainings of a file, word by word, in the order of its settings and seeds. Paths in it are relative to it.

    Raises ``ConfigError`` for a file that cannot be read and for wrong settings, ``AudioFileError`` for folders without
    recordings.
    """
    raw = _toml(path)
    try:
        _check_names(raw, {"words", "seeds", "base", "data", "settings"}, "the sweep")
        words, seeds = _texts(raw, "words"), [integer(one, "a seed", 0, _MAX_SEED) for one in raw.get("seeds", [0])]
        base = read_tables(path.parent / str(raw["base"])) if "base" in raw else {}
        settings = _settings(raw)
        if len(set(words)) != len(words) or len(set(seeds)) != len(seeds) or not seeds:
            raise ConfigError(f"expected different words and seeds, got {words} and {seeds}")
        found = []
        for word in words:
            folders = _folders(raw.get("data", {}), word, path.parent)
            recordings = _recordings(folders)
            for name, changes in settings.items():
                for seed in seeds:
                    config = build_config(merged(merged(base, changes), {"keyword": word, "seed": seed}))
                    found.append(Training(word, name, config, folders, _stamp(config, recordings)))
        _check_files(found)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return found


def _check_files(trainings: Sequence[Training]) -> None:
    owners: dict[str, Training] = {}
    for one in trainings:
        other = owners.setdefault(one.stem, one)
        if other is not one:
            raise ConfigError(
                f"expected names of different files, got {other.key} and {one.key}, both {one.stem}.onnx; rename one"
            )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: expected a file of settings, could not read it: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: expected TOML: {error}") from error


def _check_names(table: Mapping[str, Any], known: set[str], what: str) -> None:
    if not set(table) <= known:
        raise ConfigError(
            f"unknown setting {sorted(set(table) - known)[0]!r} in {what}; known: {', '.join(sorted(known))}"
        )


def _texts(table: Mapping[str, Any], name: str) -> list[str]:
    found = table.get(name)
    if not isinstance(found, list) or not found or not all(isinstance(one, str) and one.strip() for one in found):
        raise ConfigError(f"expected {name} to be a list of texts, got {found!r:.80}")
    return found


def _settings(raw: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> what it changes."""
    tables = raw.get("settings", [{"name": "base"}])
    if not isinstance(tables, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in tables
    ):
        raise ConfigError("expected settings as tables [[settings]], each with a name")
    found = {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in tables}
    if len(found) != len(tables):
        raise ConfigError("expected settings of different names, got two of the same")
    return found


def _folders(data: Any, word: str, root: Path) -> DataFolders:
    if not isinstance(data, dict):
        raise ConfigError(f"expected data to be a table, got {data!r:.80}")
    _check_names(data, {"speech_commands", *_LISTS}, "[data]")
    speech = data.get("speech_commands")
    if speech is not None and not isinstance(speech, str):
        raise ConfigError(f"expected data.speech_commands to be a text, got {speech!r:.80}")
    lists = {
        name: tuple(root / place.replace(_WORD, word) for place in _texts(data, name))
        for name in _LISTS
        if name in data
    }
    return DataFolders(speech_commands=None if speech is None else root / speech, **lists)


def _recordings(folders: DataFolders) -> list[tuple[str, int, int]]:
    roots: Sequence[Path] = [
        *([folders.speech_commands] if folders.speech_commands is not None else []),
        *(root for name in _LISTS for root in getattr(folders, name)),
    ]
    found = [(file, file.stat()) for root in roots for file in audio_files(root)]
    return [(str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found]


def _stamp(config: TrainConfig, recordings: Sequence[tuple[str, int, int]]) -> str:
    content = json.dumps([dataclasses.asdict(config), recordings], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]
