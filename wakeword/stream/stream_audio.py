"""What every reader of a stream does: keep its audio, sleep through quiet, and turn logits into detections.

``stream_reader.StreamReader`` reads one stream for a ``Detector``, ``pool.hop_reader.HopReader`` one of many for a
``DetectorPool``; they differ in how the windows are scored.
"""

from collections.abc import Sequence
from dataclasses import replace
from types import NoneType

import numpy as np

from wakeword.audio.detection import KEPT_AFTER, KEPT_PRE_ROLL, Detection, Keeps
from wakeword.audio.gate import QuietGate
from wakeword.audio.history import AudioHistory, SamplesOf
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.checks import instance
from wakeword.base.types import Array
from wakeword.model.first_stage import WindowLogit
from wakeword.stream.keyword import Fired, KeywordTracker
from wakeword.stream.near_miss import NearMisses
from wakeword.stream.sound_input import KeepsPlayback, playback_kept
from wakeword.stream.trigger import Suppression
from wakeword.verify.known_voices import Voices
from wakeword.verify.verifier import StreamSound


class StreamAudio:
    """The audio of one stream and its keywords' position in it. Sample numbers count from the start of the stream.

    ``pre_roll`` is the number of samples before a window that a detection includes, ``piece`` the largest number in one
    ``push``; ``keep`` gets detections and near misses with ``KEPT_PRE_ROLL``. Not safe for use by several threads.
    """

    def __init__(
        self, keywords: Sequence[KeywordTracker], *, pre_roll: int, piece: int, gate: bool, keep: Keeps | None = None
    ) -> None:
        self.keywords = keywords
        self.suppression = Suppression()
        self._pre_roll, self._keep = pre_roll, keep
        longest = max(keyword.window for keyword in keywords)
        # What is kept of an event is taken from the history when the audio after it is there.
        kept_pre_roll = pre_roll if keep is None else max(pre_roll, KEPT_PRE_ROLL) + KEPT_AFTER
        kept = max(longest + kept_pre_roll, max(keyword.look for keyword in keywords))
        ended = max(keyword.late for keyword in keywords)
        self._history = AudioHistory(kept + keywords[0].step + piece + ended)
        self._played: KeepsPlayback | None = None
        """What the loudspeaker gets; ``None`` before there is any."""
        self.samples_of: SamplesOf = self._history.padded
        """The samples from one number to another, with silence after the newest: valid until the next ``push``."""
        self._sound = StreamSound(self.samples_of)
        self._waiting: list[tuple[Detection, int, int]] = []
        """Wakes to keep, and the samples of their windows: a later window, which holds more of the word, fires as well."""
        gives_last = getattr(keep, "gives_last", None)
        if gives_last is not None:
            gives_last(self)
        self._gate = QuietGate(max(longest, SAMPLE_RATE)) if gate else None
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.keep_wakes(ended=True)
        self._history.reset()
        self._played = None
        self._sound.reset()
        if self._gate is not None:
            self._gate.reset()
        self.suppression.reset()
        for keyword in self.keywords:
            keyword.reset()
        self.is_asleep = False
        """Whether the newest audio was steady quiet, for which nothing was computed."""
        self._checked, self._is_quiet = 0, False
        self.length: int | None = None
        """Samples in the stream once it has ended, ``None`` before ``finish``."""

    @property
    def end(self) -> int:
        """Number of the next sample."""
        return self._history.end

    def push(self, samples: Array) -> None:
        """Append ``(n,)`` float32, at most ``piece`` samples; ``(n, 2)``: with what the loudspeaker gets then."""
        if samples.ndim == 2 and self._played is None:
            self._played = playback_kept(self._history.capacity, self.end)
        if self._played is not None:
            self._played.push(samples)
        self._history.push(sound_of(samples))

    def finish(self) -> int:
        """End the stream; return how many samples of silence it takes until a window of every keyword covers its end."""
        self.length = length = self._history.end
        covering = [keyword.covering(length) for keyword in self.keywords]
        return max(covering) - length if length else 0

    def slice(self, start: int, end: int) -> Array:
        """A copy of the samples ``start`` to ``end``, without those before the stream or no longer kept, ``(n,)``."""
        return self._history.slice(start, end)

    def is_over(self, start: int, end: int) -> bool:
        """Whether the loudspeaker plays between two sample numbers."""
        return self._played is not None and self._played.is_over(start, end)

    def is_quiet(self, end: int) -> bool:
        """Whether the audio up to sample ``end`` is steady quiet; false before an ``end`` that was asked about, as it was
        loud then, and once the stream has ended."""
        if self._gate is None or self.length is not None or end < self._checked:
            return False
        if end > self._checked:
            self._is_quiet = self._gate.push(self._history.view(self._checked, end))
            self._checked = end
        return self._is_quiet

    def sleep_if(self, quiet: bool) -> None:
        """Fall asleep if the newest audio was ``quiet`` and the scores of all keywords are far below their thresholds."""
        self.is_asleep = quiet and all(keyword.is_far_below for keyword in self.keywords)

    def hold(self, end: int) -> None:
        """Continue to sleep up to sample ``end``: the windows that end until then keep the last score of their keyword."""
        for keyword in self.keywords:
            keyword.hold(end)

    def wake(self) -> list[int]:
        """Score again: from the start of the first window that was not scored, for each keyword.

        A window's score depends only on its own samples, so all windows from there on get the same score as without the
        sleep.
        """
        self.is_asleep = False
        return [keyword.window_start for keyword in self.keywords]

    def take(self, keyword: KeywordTracker, windows: Sequence[WindowLogit]) -> list[Detection]:
        """Take what the first stage says of the next windows of a keyword; return the detections among them."""
        veto = None if self._played is None else self._played.says
        found = keyword.take(windows, sound=self._sound, suppression=self.suppression, end=self.length, veto=veto)
        near = None if keyword.near_misses is None else keyword.near_misses.best
        if near is not None and near.audio is None:
            # Now, while it is kept: only later is it certain that nothing fires after it.
            near.audio = self._history.slice(near.end - keyword.window - self._pre_roll, near.end)
        return [self._detection(keyword, fired) for fired in found]

    def watch_near_misses(self) -> None:
        """Find what nearly fires too; see ``NearMisses``."""
        for keyword in self.keywords:
            keyword.near_misses = NearMisses(keyword.threshold, after=0 if self._keep is None else KEPT_AFTER)

    def know(self, voices: Voices | None) -> None:
        """Let the voice that says a word move its threshold; see ``known_voices``. ``ConfigError`` for anything else."""
        instance(voices, (Voices, NoneType), "the known voices, a Voices or None (docs/voices.md)")
        for keyword in self.keywords:
            keyword.know(voices)

    def near_misses(self) -> list[Detection]:
        """The near misses that have become certain; after ``finish``, all that are left. Wakes are kept then, too."""
        self.keep_wakes(ended=self.length is not None)
        misses = []
        for keyword in self.keywords:
            kept, ended = keyword.near_misses, self.length is not None
            near = None if kept is None else kept.due(self.end, ended=ended)
            if near is not None and near.audio is not None:
                end = near.end if self.length is None else min(near.end, self.length)
                first = near.end - keyword.window
                missed = Detection(
                    keyword.name, near.score, first / SAMPLE_RATE, end / SAMPLE_RATE, near.audio, near.stage_one
                )
                if self._keep is not None:
                    self._keep.keep(self._with_audio(missed, first, near.end), near_miss=True)
                misses.append(missed)
        return misses

    def keep_wakes(self, *, ended: bool) -> None:
        """Keep the wakes that all of the audio after them has come for; if the stream has ``ended``, all that wait."""
        while self._waiting and (ended or self.end >= self._waiting[0][2] + KEPT_AFTER):
            wake = self._with_audio(*self._waiting.pop(0))
            if self._keep is not None:
                self._keep.keep(wake)

    def _with_audio(self, event: Detection, start: int, end: int) -> Detection:
        """What is kept of an event in a window: with the audio before and after it, as far as there is any."""
        last = min(self.end, end + KEPT_AFTER)
        about = {**event.about, "after": max(0, last - end) / SAMPLE_RATE}
        return replace(event, audio=self.slice(start - KEPT_PRE_ROLL, last), about=about)

    def _detection(self, keyword: KeywordTracker, fired: Fired) -> Detection:
        start = fired.end - keyword.window
        # The last window of a stream can extend into the silence after it.
        end = fired.end if self.length is None else min(fired.end, self.length)
        audio = self._history.slice(start - self._pre_roll, end)
        detection = Detection(
            *(keyword.name, fired.score, start / SAMPLE_RATE, end / SAMPLE_RATE, audio, fired.stage_one),
            speaker=fired.speaker,
        )
        if self._keep is not None:
            self._waiting.append((detection, start, end))
        return detection


def sound_of(samples: Array) -> Array:
    """What is listened to in ``(n,)`` or ``(n, 2)`` samples of a ``SoundInput``, ``(n,)``."""
    return samples if samples.ndim == 1 else np.ascontiguousarray(samples[:, 0])
