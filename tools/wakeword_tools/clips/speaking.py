"""Clips as work for one process or many: a pure function from a recipe to the bytes of a file."""

from collections.abc import Callable
from dataclasses import dataclass

from wakeword.audio.pcm import audio_bytes
from wakeword.base.errors import SynthesisError
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
    """Speaks clips: ``wakeword.batch.jobs.work.Work``. Rows are ``Spoken``."""

    def begin(self, report: Report) -> Callable[[SpokenClip], Spoken]:
        """Engines are loaded with the first clip that needs them."""

        def spoken(clip: SpokenClip) -> Spoken:
            try:
                found = Spoken(_speak(clip))
            except SynthesisError as error:
                found = self.lost(clip, str(error))
            report(clip.size, clip.seconds)
            return found

        return spoken

    def lost(self, item: SpokenClip, reason: str) -> Spoken:
        """The row of a clip that could not be spoken."""
        return Spoken(b"", reason)


def _speak(clip: SpokenClip) -> bytes:
    return audio_bytes(render(clip.recipe).samples, "FLAC")
