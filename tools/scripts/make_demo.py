"""Makes the recordings in ``assets/audio``: ``python -m scripts.make_demo``. Always the same bytes.

``demo.flac`` holds sentences with "marvin" and with words like it, ``demo.json`` the times of these words. The short
clips hold one word each.
"""

import ctypes
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from scripts.recipes import voice_named
from wakeword.audio.audio_file import write_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import replacing, write_json
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.clips.plan import levelled, trim
from wakeword_tools.engines.espeak import EspeakSynthesizer
from wakeword_tools.engines.espeak_library import collect, fresh_library
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice

KEYWORD = "marvin"

# The voices are of the test split: no model of this project was trained on them.
_SENTENCES = (
    ("en-GB-x-rp+f4", 0.95, "Hey Marvin, turn on the lights."),
    ("en-US+m2", 0.90, "We caught a marlin near the island."),
    ("en-GB-x-rp+david", 0.90, "Marvin, what time is it?"),
    ("en-US+belinda", 0.95, "What a marvelous day for a walk."),
    ("en-US+belinda", 0.95, "Please ask Marvin to play some music."),
    ("en-GB-scotland+ed", 0.95, "Martin and Arvin went to the market."),
    ("en-US+ed", 0.90, "Marvin."),
    ("en-GB-x-gbclan+shelby", 0.95, "Larvae were starving in the garden, and the margin was small."),
    ("en-GB-x-gbclan+shelby", 0.90, "Good morning, Marvin."),
    ("en+Jacky", 0.90, "Mar. Vin. Arvi. Marvik. Marlin."),
    ("en-US+Andrea", 0.95, "Marvin, set a timer for ten minutes."),
    ("en+f4", 0.95, "Seven people were reading a book about forests and rivers."),
    ("en-GB-x-rp+m2", 0.90, "Thank you, Marvin."),
)
_CLOSE = {
    *("marlin", "marvelous", "martin", "arvin", "market", "larvae", "starving", "garden", "margin"),
    *("mar", "vin", "arvi", "marvik"),
}
_POSITIVE_CLIPS = ("en-GB-x-rp+f4", "en-US+m2", "en-GB-x-rp+david", "en-US+belinda")
_OTHER_CLIPS = (
    ("en-GB-x-rp+f4", "marlin"),
    ("en-US+m2", "arvin"),
    ("en-GB-x-rp+david", "marvelous"),
    ("en-US+belinda", "seven"),
)
PAUSE, _CLIP_PAUSE = 1.2, 0.3
_NOISE_LEVEL = 0.001
"""Root mean square of the noise floor: -60 dBFS."""


@dataclass(frozen=True)
class DemoWord:
    """A word in the demo recording that is the keyword or sounds like it."""

    word: str
    keyword: bool
    start: float
    """Seconds from the start of the recording."""
    end: float
    voice: str
    sentence: str


class _Event(ctypes.Structure):
    """``espeak_EVENT`` of espeak-ng's speak_lib.h, as are the values below."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_LIST_END, _WORD = 0, 1


@dataclass(frozen=True)
class TimedSpeech:
    """A word of a text, and its times in the speech."""

    text: str
    start: float
    """Seconds from the first sample."""
    end: float
    """Seconds to the start of the next word, including a pause in between."""


class TimedEspeak(EspeakSynthesizer):
    """espeak-ng, which says where words begin."""

    def speak_words(self, text: str, voice: Voice, prosody: Prosody) -> tuple[Array, list[TimedSpeech]]:
        """``(samples,)`` as from ``speak``, and the times of each word."""
        words: list[tuple[int, str]] = []

        def heard(events: int) -> None:
            found = ctypes.cast(events, ctypes.POINTER(_Event))
            index = 0
            while (event := found[index]).type != _LIST_END:
                if event.type == _WORD:
                    begin = event.text_position - 1
                    words.append((event.sample, text[begin : begin + event.length]))
                index += 1

        with fresh_library(self._path, self._data, voice, prosody) as (library, rate):
            length = len(collect(library, text, heard))
        starts = [start / rate for start, _ in words]
        ends = [*starts, length / rate][1:]
        timed = [TimedSpeech(word, start, end) for (_, word), start, end in zip(words, starts, ends, strict=True)]
        return self.speak(text, voice, prosody), timed


def demo() -> tuple[Array, list[DemoWord]]:
    """The demo recording, ``(samples,)`` float32 at 16 kHz, and its words that are the keyword or sound like it."""
    engine = TimedEspeak()
    pieces = [np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)]
    words = []
    for name, rate, sentence in _SENTENCES:
        voice = _voice(name)
        samples, timed = engine.speak_words(sentence, voice, Prosody(rate=rate))
        offset = sum(map(len, pieces)) / SAMPLE_RATE
        for word in timed:
            text = word.text.lower().strip(".,?")
            if text in _CLOSE | {KEYWORD}:
                word_samples = samples[round(word.start * SAMPLE_RATE) : round(word.end * SAMPLE_RATE)]
                start = offset + word.start
                end = start + len(trim(word_samples)) / SAMPLE_RATE
                words.append(DemoWord(text, text == KEYWORD, round(start, 3), round(end, 3), voice.name, sentence))
        pieces += [levelled(samples), np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)]
    return with_noise(np.concatenate(pieces)), words


def clip(name: str, word: str) -> Array:
    """One word in that voice, with a pause and the noise floor around it, ``(samples,)`` float32 at 16 kHz."""
    speech = levelled(trim(EspeakSynthesizer().speak(word, _voice(name), Prosody(rate=0.95))))
    return with_noise(np.pad(speech, round(_CLIP_PAUSE * SAMPLE_RATE)))


def _voice(name: str) -> Voice:
    return voice_named(f"espeak-ng:{name}")


def with_noise(samples: Array) -> Array:
    """The samples with a noise floor of -60 dBFS, always the same."""
    noise = np.random.default_rng(0).standard_normal(len(samples), np.float32)
    return np.clip(samples + _NOISE_LEVEL * noise, -1, 1)


def write(path: Path, samples: Array) -> None:
    """Write 16 kHz mono 16-bit FLAC."""
    with replacing(path) as temporary:
        write_audio(temporary, samples)


def main() -> None:
    """Write all recordings into ``assets/audio``."""
    folder = assets_folder() / "audio"
    samples, words = demo()
    write(folder / "demo.flac", samples)
    write_json(folder / "demo.json", {"file": "demo.flac", "words": [asdict(word) for word in words]})
    for name in _POSITIVE_CLIPS:
        write(folder / f"{KEYWORD}-{name.partition('+')[2]}.flac", clip(name, KEYWORD))
    for name, word in _OTHER_CLIPS:
        write(folder / f"other-{word}.flac", clip(name, word))


if __name__ == "__main__":
    main()
