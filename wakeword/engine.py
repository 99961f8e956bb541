"""The detector: blocks of audio in, detections out.

The way of a block, with the module of each step:

1. ``audio.sources`` or ``microphone`` gives blocks, ``stream.access`` lets one thread at a time push them.
2. ``audio.pcm`` converts a block to 16 kHz mono for ``stream.sound_input``; what plays is taken out of it there by the
   package ``wakeword_echo``. Then come pieces of at most a second.
3. ``stream.stream_reader`` appends a piece to the stream in ``stream.stream_audio``, which keeps it in ``audio.history``
   and sleeps while ``audio.gate`` finds it quiet. Where a window ends, ``model.first_stage`` asks ``audio.level`` for its
   gain, and ``audio.features`` makes frames of it at that gain.
4. ``model.scorer`` gives them to the windows in progress, which ``model.lstm`` (numpy) or ONNX Runtime
   advances: a logit for each window that ends.
5. ``stream.keyword`` takes the logits of one word. In a model of two stages its verifier of the room ``verify`` looks at
   candidates, at the gain of their window; ``stream.trigger`` decides what fires, and ``stream.near_miss`` what nearly did.
6. ``stream.stream_audio`` makes the ``audio.detection``, and gives it to who keeps it once the audio after it is there.
   ``stream.following`` has that audio until ``stream.end_of_speech`` finds its end.

``model.loading`` reads models and thresholds before the first block; they come from ``format`` and ``model``.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wakeword.audio.detection import CallbackError, Detection, Keeps
from wakeword.audio.pcm import SAMPLE_RATE, samples_of_bytes
from wakeword.base.checks import flag, function
from wakeword.base.types import Array, Samples
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.loading import chosen_thresholds, loaded_models, pre_roll_samples
from wakeword.model.model import Model
from wakeword.stream.access import StreamAccess
from wakeword.stream.stream_audio import sound_of
from wakeword.stream.stream_reader import PIECE, StreamReader
from wakeword.stream.trigger import DEFAULT_REFRACTORY
from wakeword.verify.known_voices import Voices


class Detector(StreamAccess):
    """Detects one or more wake words in one stream of audio.

    ``models`` are shipped keywords (``"jarvis"``), model files, or loaded ``Model`` objects. Each has the threshold
    of its operating point ``point`` (default: the model's own choice), unless ``threshold`` is given; either may be
    a mapping from keywords. Without ``verify`` the first stage of a model of two stages runs alone, at its own points.
    ``sample_rate`` and ``channel`` describe the blocks that ``push`` will get; ``channel`` selects one of several, and
    ``playback_rate`` is the rate of a reference, if that is another. ``gate`` saves the work on steady quiet, without an
    effect on detections. ``on_near_miss`` is called for what nearly fired, a second after it: a score of half the threshold
    or more that did not reach it. ``keep``, a ``Keeper``, keeps both; ``voices`` are known.

    Push blocks from one thread at a time; everything else may be called from any thread at any time, ``close`` included.
    Models may be shared. Raises ``ModelError`` for an unusable model and ``ConfigError`` for settings out of range.
    """

    def __init__(
        self,
        models: Model | Path | str | Sequence[Model | Path | str],
        *,
        point: str | Mapping[str, str] | None = None,
        threshold: float | Mapping[str, float] | None = None,
        sample_rate: int = SAMPLE_RATE,
        channel: int | None = None,
        playback_rate: int | None = None,
        hop: int = DEFAULT_HOP,
        refractory: int = DEFAULT_REFRACTORY,
        pre_roll: float = 0.5,
        on_detection: Callable[[Detection], None] | None = None,
        on_near_miss: Callable[[Detection], None] | None = None,
        provider: str = "cpu",
        gate: bool = True,
        verify: bool = True,
        keep: Keeps | None = None,
        voices: Voices | None = None,
    ) -> None:
        loaded = loaded_models(models, provider=provider, verify=verify)
        function(on_detection, "on_detection")
        thresholds = chosen_thresholds(loaded, point, threshold)
        function(on_near_miss, "on_near_miss")
        self.on_detection = on_detection
        self._on_near_miss = on_near_miss
        self._reader = StreamReader(
            loaded,
            thresholds,
            hop=hop,
            refractory=refractory,
            pre_roll=pre_roll_samples(pre_roll),
            gate=flag(gate, "gate"),
            keep=keep,
        )
        super().__init__(self._reader.audio, sample_rate=sample_rate, channel=channel, playback_rate=playback_rate)
        if on_near_miss is not None or keep is not None:
            self._audio.watch_near_misses()
        self._audio.know(voices)
        self.reset()

    @property
    def keywords(self) -> list[str]:
        """The words that are detected."""
        return [keyword.name for keyword in self._audio.keywords]

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold in force for each keyword."""
        return {keyword.name: keyword.threshold for keyword in self._audio.keywords}

    @property
    def scores(self) -> dict[str, float]:
        """The newest score of each keyword; 0 before the first window is complete."""
        return {keyword.name: keyword.score for keyword in self._audio.keywords}

    @property
    def seconds(self) -> float:
        """Seconds of audio processed since the last ``reset``: the stream's own clock."""
        return self._audio.end / SAMPLE_RATE

    @property
    def is_asleep(self) -> bool:
        """Whether the newest audio was steady quiet, for which nothing was computed."""
        return self._audio.is_asleep

    @property
    def seconds_to_window(self) -> float:
        """Seconds of audio until the next window ends: pushing less than that costs a copy and computes nothing."""
        return max(0, self._reader.samples_to_window - self._input_now.held) / SAMPLE_RATE

    @property
    def candidates(self) -> dict[str, int]:
        """For each keyword, the windows that its second stage has looked at in this stream; 0 for a model without one."""
        return {keyword.name: keyword.candidates for keyword in self._audio.keywords}

    def reset(self) -> None:
        """Begin a new stream at time 0, as a new detector would."""
        with self._lock:
            self._input_now.reset()
            self._reader.reset()
            self._followers.close()

    def push(self, block: Samples, playback: Samples | None = None) -> list[Detection]:
        """Process a block of any length, ``(samples,)`` or ``(samples, channels)``; return the detections it completes.

        int16, int32 or float32. ``playback`` is what the loudspeaker gets from this block on, of any length: the package
        of the extra ``echo`` takes its echo out, and a word that it says itself does not fire. Raises ``AudioFormatError``
        for anything else, which leaves the stream unchanged, ``ClosedError`` after ``close``, and ``CallbackError`` if a
        callback raises something, once the block is processed and all are called.
        """
        return self._process(block, playback, threading.get_ident())

    def process_streaming(self, audio: bytes) -> bool:
        """Whether a keyword was detected in the next bytes of 16-bit PCM, little-endian, at the detector's sample rate.

        For programs that expect an engine with this method. Raises ``AudioFormatError`` for an odd number of bytes.
        """
        return bool(self.push(samples_of_bytes(audio)))

    def flush(self) -> list[Detection]:
        """End the stream: append silence until a window covers the last sample. Then begin a new stream.

        ``CallbackError`` as from ``push``.
        """
        return self._finish(threading.get_ident())

    def _process(self, block: Samples, playback: Samples | None, thread: int) -> list[Detection]:
        with self._lock:
            self._check_free(thread)
            samples = self._input_now.push(block, playback)
        return self._take(samples)

    def _finish(self, thread: int) -> list[Detection]:
        with self._lock:
            self._check_free(thread)
            samples = self._input_now.flush()
        return self._take(samples, ends=True)

    def _take(self, samples: Array, *, ends: bool = False) -> list[Detection]:
        """Read samples piece by piece, each under the lock, and call the callbacks between two pieces.

        What callbacks raise comes at the end, so that nothing of the stream or of the detections is lost.
        """
        detections: list[Detection] = []
        failures: list[Exception] = []
        for start in range(0, len(samples), PIECE):
            piece = samples[start : start + PIECE]
            with self._lock:
                self._followers.push(sound_of(piece))
                fired = self._reader.push(piece)
                missed = self._audio.near_misses()
                if self._closed:
                    self.reset()
                    break
            detections += fired
            failures += self._report(fired, missed)
        if ends:
            with self._lock:
                fired = self._reader.finish()
                missed = self._audio.near_misses()
                self.reset()
            detections += fired
            failures += self._report(fired, missed)
        if failures:
            raise CallbackError(detections, failures) from failures[0]
        return detections

    def _report(self, fired: list[Detection], missed: list[Detection]) -> list[Exception]:
        """Call the callbacks, without the lock, as they may wait for a thread that needs it; return what they raise."""
        failures: list[Exception] = []
        for callback, detections in ((self.on_detection, fired), (self._on_near_miss, missed)):
            if callback is None:
                continue
            for detection in detections:
                try:
                    callback(detection)
                except Exception as error:  # of any kind: raised once all are called
                    failures.append(error)
        return failures
