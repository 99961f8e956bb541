"""Clips as work for one process or many: a pure function from a recipe to the bytes of a file."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from wakeword.audio.pcm import audio_bytes
from wakeword.base.errors import SynthesisError
from wakeword.batch.jobs.crew import Crew, Failed
from wakeword.batch.jobs.work import Report
from wakeword_tools.clips.clip_plan import Recipe, render

SECONDS_FOR_A_CLIP = 60.0
_SECONDS = 4.0
"""A clip is as much work as so much audio that is scored, or more."""


@dataclass(frozen=True, slots=True)
class SpokenClip:
    """A clip to speak."""

    recipe: Recipe
    file: str
    """Its name in the folder."""

    @property
    def key(self) -> str:
        """Its name."""
        return self.file

    @property
    def size(self) -> float:
        """One clip."""
        return 1.0

    @property
    def seconds(self) -> float:
        """Seconds of audio that are as much work."""
        return _SECONDS


@dataclass(frozen=True)
class Spoken:
    """What became of a clip."""

    content: bytes
    """The bytes of a FLAC file: 16 kHz mono 16-bit."""
    error: str | None = None
    """Why it could not be spoken."""


class SpeakWork:
    """Speaks clips: ``wakeword.batch.jobs.work.Work``. Rows are ``Spoken``.

    ``apart``: whether engines run in a further process, so that one that hangs loses only its clip.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._apart = apart

    def begin(self, report: Report) -> Callable[[SpokenClip], Spoken]:
        """Engines are loaded with the first clip that needs them."""
        speak: Callable[[SpokenClip], bytes] = _Apart() if self._apart else _speak

        def spoken(clip: SpokenClip) -> Spoken:
            try:
                found = Spoken(speak(clip))
            except SynthesisError as error:
                found = self.lost(clip, str(error))
            report(clip.size, clip.seconds)
            return found

        return spoken

    def lost(self, item: SpokenClip, reason: str) -> Spoken:
        """The row of a clip that could not be spoken."""
        return Spoken(b"", reason)


class _Apart:
    """Speaks in a process of its own, which stays for the next clip unless it crashes or hangs."""

    def __init__(self) -> None:
        self._crew: Crew[SpokenClip, bytes] = Crew(_speaker, 1, seconds=SECONDS_FOR_A_CLIP)

    def __call__(self, clip: SpokenClip) -> bytes:
        """The bytes of a FLAC file. Raises ``SynthesisError``."""
        rows = self._crew.rows(deque([[(0, clip)]]), deque(), lambda size, seconds: None)
        _, _, found = next(rows)
        if isinstance(found, Failed):
            raise SynthesisError(found.reason)
        return found


def _speaker(report: Report) -> Callable[[SpokenClip], bytes]:
    return _speak


def _speak(clip: SpokenClip) -> bytes:
    return audio_bytes(render(clip.recipe).samples, "FLAC")
