"""Takes on disk and over the loudspeaker."""

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wakeword.errors import AudioDeviceError, ConfigError
from wakeword.files import replacing

if TYPE_CHECKING:
    from wakeword.takes.take import Take

_PIECE_SECONDS = 0.1
"""Of a take that is handed to PortAudio at once: what a signal may have to wait for."""

_Result = TypeVar("_Result")


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
    """Play a take on the default output device. Raises ``AudioDeviceError`` if there is none, or it does not play.

    Whatever ends it, the stream is closed when this returns or raises.
    """
    import soxr

    from wakeword.audio import SAMPLE_RATE
    from wakeword.microphone.portaudio import PORTAUDIO

    stream = PORTAUDIO.call(_open_output, undo=_close)
    end = _close
    try:
        samples = soxr.resample(take.samples, SAMPLE_RATE, stream.samplerate)
        step = max(1, round(_PIECE_SECONDS * stream.samplerate))
        for start in range(0, len(samples), step):
            PORTAUDIO.call(partial(_tried, partial(stream.write, samples[start : start + step])))
        end = _finish
    finally:
        PORTAUDIO.call(partial(end, stream))


def _open_output() -> Any:
    """A stream that is written to: a callback may come while the interpreter ends, and then crashes it."""
    from wakeword.microphone.portaudio import sounddevice_module

    output_stream = sounddevice_module().OutputStream
    stream = _tried(partial(output_stream, channels=1, dtype="float32", latency="high"))
    try:
        _tried(stream.start)
    except BaseException:
        _close(stream)
        raise
    return stream


def _finish(stream: Any) -> None:
    """Close a stream when all that was written has been heard."""
    try:
        _tried(stream.stop)
    finally:
        _close(stream)


def _close(stream: Any) -> None:
    stream.close(ignore_errors=True)


def _tried(call: Callable[[], _Result]) -> _Result:
    """What ``call`` returns; ``AudioDeviceError`` if PortAudio refuses it."""
    from wakeword.microphone.portaudio import sounddevice_module

    try:
        return call()
    except (ValueError, sounddevice_module().PortAudioError) as error:
        raise AudioDeviceError(f"the take could not be played back: {error}") from error
