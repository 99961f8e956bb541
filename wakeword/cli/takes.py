"""Takes on disk and over the loudspeaker."""

import json
import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.errors import AudioDeviceError, ConfigError
from wakeword.files import replacing

if TYPE_CHECKING:
    from wakeword.recording import Take


class TakeFolder:
    """A folder of takes, ``KEYWORD-0001.wav`` and so on, each with a JSON file of the same name.

    Numbers go on after the highest that is there, so that nothing is written over. Raises ``ConfigError`` for a keyword
    without a letter or digit, and if ``folder`` is a file.
    """

    def __init__(self, folder: Path, keyword: str, *, suffix: str = ".wav") -> None:
        self._name = re.sub(r"\W+", "_", keyword).strip("_")
        if not self._name:
            raise ConfigError(f"expected a keyword of letters, got {keyword!r}")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: expected a folder for the takes, found a file; choose another with --out")
        self._folder, self._keyword, self._suffix = folder, keyword, suffix

    def _numbers(self) -> set[int]:
        names = [path.stem for path in self._folder.iterdir()] if self._folder.is_dir() else []
        found = [re.fullmatch(re.escape(self._name) + r"-(\d+)", name) for name in names]
        return {int(match.group(1)) for match in found if match}

    def write(self, take: "Take", *, source: str, sample_rate: int) -> Path:
        """Write a take that came from ``source`` at ``sample_rate``; the path of its audio. ``OSError`` if it cannot be.

        The JSON file comes first: audio without it is never seen.
        """
        from wakeword.audio import SAMPLE_RATE, write_audio

        path = self._folder / f"{self._name}-{max(self._numbers(), default=0) + 1:04}{self._suffix}"
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
        with replacing(path.with_suffix(".json")) as temporary:
            temporary.write_text(json.dumps(content) + "\n", encoding="utf-8")
        with replacing(path) as temporary:
            write_audio(temporary, take.samples)
        return path


def _rounded(level: float) -> float | None:
    return round(level, 1) if math.isfinite(level) else None


def play_back(take: "Take") -> None:
    """Play a take on the default output device. Raises ``AudioDeviceError`` if there is none, or it does not play."""
    import soxr

    from wakeword.audio import SAMPLE_RATE
    from wakeword.portaudio import PORTAUDIO, sounddevice_module

    def play() -> None:
        sounddevice = sounddevice_module()
        try:
            rate = sounddevice.query_devices(kind="output")["default_samplerate"]
            sounddevice.play(soxr.resample(take.samples, SAMPLE_RATE, rate), rate, blocking=True)
        except (ValueError, sounddevice.PortAudioError) as error:
            raise AudioDeviceError(f"the take could not be played back: {error}") from error

    PORTAUDIO.call(play)
