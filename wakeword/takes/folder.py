"""Storing takes on disk."""

import json
import math
import re
from datetime import UTC, datetime
from pathlib import Path

from wakeword.audio.pcm import SAMPLE_RATE, write_audio
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing, write_whole
from wakeword.takes.take import Take


class TakeFolder:
    """A folder of takes, ``KEYWORD-0001.wav`` and so on, each with a JSON file of the same name.

    Numbers continue after the highest existing one, so that no file is overwritten. Raises ``ConfigError`` for a keyword
    without a letter or digit, and if ``folder`` is a file.
    """

    def __init__(self, folder: Path, keyword: str, *, suffix: str = ".wav") -> None:
        self._name = re.sub(r"\W+", "_", keyword).strip("_")
        if not self._name:
            raise ConfigError(f"expected a keyword with a letter or digit, got {keyword!r}")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: expected a folder for the takes, found a file; choose another with --out")
        self.path = folder
        self._keyword, self._suffix = keyword, suffix

    def __len__(self) -> int:
        return len(self._numbers())

    def _numbers(self) -> set[int]:
        names = [path.stem for path in self.path.iterdir()] if self.path.is_dir() else []
        found = [re.fullmatch(re.escape(self._name) + r"-(\d+)", name) for name in names]
        return {int(match.group(1)) for match in found if match}

    def write(self, take: Take, *, source: str, sample_rate: int) -> Path:
        """Write a take from ``source``, recorded at ``sample_rate``, and return the path of its audio.

        The JSON file is written first, so that there is never audio without it. Raises ``OSError`` if it cannot be
        written.
        """
        path = self.path / f"{self._name}-{max(self._numbers(), default=0) + 1:04}{self._suffix}"
        content = {
            "keyword": self._keyword,
            "source": source,
            "sample_rate": sample_rate,
            "level_db": _rounded(take.level),
            "noise_db": _rounded(take.noise),
            "word": [round(take.word.start / SAMPLE_RATE, 2), round(take.word.end / SAMPLE_RATE, 2)],
            "fault": None if take.fault is None else take.fault.name.lower(),
            "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        write_whole(path.with_suffix(".json"), (json.dumps(content) + "\n").encode(), private=True)
        with replacing(path, private=True) as temporary:
            write_audio(temporary, take.samples)
        return path


def _rounded(level: float) -> float | None:
    return round(level, 1) if math.isfinite(level) else None
