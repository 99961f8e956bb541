"""Labels of kept events that no person gives: what a speech-to-text of the house and the word's phonemes hear in them."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError
from wakeword.saving.sorting import Answer, SavedPair, add_label, content_of
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES
from wakeword.verify.verifier import SecondStage
from wakeword_serve.event_list import kept_list
from wakeword_serve.speech_to_text import SpeechToText

logger = logging.getLogger("wakeword.serve")

SAID_FROM, UNSAID_BELOW = -1.5, -2.5
"""How well the phonemes of a word that was said fit at least, and of one that was not at most (``kept-labels.md``)."""
_WORST = -100.0
"""In place of minus infinity, which JSON does not have."""
_QUIET_SECONDS = 60.0
"""Nothing is labelled for so long after an event: the speech-to-text may be needed for what a person says then."""
_LOOK_SECONDS = 5.0
_LONGEST_PAUSE = 3_600.0
_AFTER = SAMPLE_RATE * 3 // 10
"""Samples after the window in which the word may end."""

StageOf = Callable[[str], SecondStage | None]
"""The second stage of a word, by its phrase; ``None`` where there is none."""


def probably(text: str, fit: float | None) -> Answer | None:
    """Whether it was the word; ``None`` if that is not certain.

    The text never says that it was: no speech-to-text spells a word of one's own as it is spelt. It says that nothing was.
    """
    if not any(map(str.isalnum, text)):
        return Answer.NO
    if fit is None:
        return None
    return Answer.NO if fit < UNSAID_BELOW else Answer.YES if fit >= SAID_FROM else None


def label_pair(pair: SavedPair, speech: SpeechToText, stage_of: StageOf) -> None:
    """Label a kept event in its file.

    Raises ``WorkerError`` as the speech-to-text does, ``AudioError`` for damaged audio, and ``OSError`` as the disk does.
    """
    samples, stage = read_audio(pair.audio), stage_of(pair.keyword)
    # Up to where the word may end.
    end = len(samples) - max(0, round(SAMPLE_RATE * float(content_of(pair.data).get("after", 0))) - _AFTER)
    text = speech.text(samples)
    ear = None if stage is None else stage.phonemes
    fit = None if ear is None else ear.evidence(samples[max(0, end - PHONEME_SAMPLES) : end])
    add_label(pair, {"text": text, "probably": probably(text, fit), "fit": None if fit is None else max(_WORST, fit)})


class Labeller:
    """Labels what is kept while the house is quiet, one event at a time. A context manager, with a thread of its own.

    What waits is what the folder holds: nothing is lost when the speech-to-text is away or the server ends. Events that
    cannot be labelled go behind the others. ``is_busy``: whether streams wait already.
    """

    def __init__(self, folder: Path, speech: SpeechToText, stage_of: StageOf, is_busy: Callable[[], bool]) -> None:
        self._folder, self._speech, self._stage_of, self._is_busy = folder, speech, stage_of, is_busy
        self._failed: Counter[Path] = Counter()
        self._damaged: set[Path] = set()
        self._pause, self._is_away = _LOOK_SECONDS, False
        self._ended = Event()

    def __enter__(self) -> "Labeller":
        # A speech-to-text that hangs must not keep the process from ending.
        Thread(target=self._run, name="wakeword-label", daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._pause):
            started, was_away, said = time.monotonic(), self._is_away, "it answers again"
            try:
                is_labelled = self.label_one()
                # At most half of the time of a machine that does both.
                self._pause = time.monotonic() - started if is_labelled else _LOOK_SECONDS
                self._is_away &= not is_labelled
            except Exception as error:  # of any kind: the next one can succeed
                self._pause = min(_LONGEST_PAUSE, 2 * max(_LOOK_SECONDS, self._pause))
                self._is_away = True
                said = f"{error or type(error).__name__}; what is kept waits, and it will be tried again"
            if self._is_away is not was_away:
                logger.warning("--label-with: %s", said)

    def label_one(self) -> bool:
        """Label an event that waits; whether one was labelled. Raises as ``label_pair`` does."""
        events = list(kept_list(self._folder).values())
        waiting = [event for event in events if event.is_word is None and event.text is None]
        waiting = [event for event in waiting if event.data not in self._damaged]
        if not waiting or self._is_busy() or abs(time.time() - events[0].audio.stat().st_mtime) < _QUIET_SECONDS:
            return False
        event = min(waiting, key=lambda event: self._failed[event.data])
        self._failed[event.data] += 1
        try:
            label_pair(event, self._speech, self._stage_of)
        except FileNotFoundError:  # a person was faster
            pass
        except AudioError:
            self._damaged.add(event.data)
        return True
