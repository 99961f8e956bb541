"""Makes ``assets/audio/sentences.flac``, which ``make demo`` scans: ``python -m scripts.make_sentences``.

Sentences by voices of Kokoro's test split, on which no included model was trained (``wakeword voices install kokoro``).
"""

from dataclasses import asdict, dataclass

import numpy as np

from scripts.make_demo import PAUSE, with_noise, write
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.clips.plan import levelled
from wakeword_tools.engines.kokoro import KOKORO, KokoroSynthesizer
from wakeword_tools.engines.registry import english_voices

# The word is where people put it when they call: first, last, or after a greeting. Amid a sentence it is found less often.
_SENTENCES = (
    ("am_fenrir", "jarvis", "Jarvis, what time is it?"),
    ("bf_lily", None, "Travis and Harvey went to the market."),
    ("bm_daniel", "computer", "Computer, what is the weather today?"),
    ("bf_isabella", None, "The harvest was good this year."),
    ("am_liam", "jarvis", "Good morning, Jarvis."),
    ("bm_fable", None, "The commuter train was late."),
    ("bf_lily", "computer", "Hey computer, stop the music."),
    ("am_fenrir", None, "The service was slow, and the garden was starving."),
    ("bf_isabella", "jarvis", "Jarvis, set a timer for ten minutes."),
    ("bm_daniel", None, "Five competitors met on the court."),
    ("bm_fable", "computer", "Thank you, computer."),
    ("am_liam", None, "Larvae were found in the forest."),
)
FILE = "sentences.flac"


@dataclass(frozen=True)
class Sentence:
    """A sentence of the recording."""

    text: str
    keyword: str | None
    """The wake word in it; ``None``: words that sound like one."""
    start: float
    """Seconds from the start of the recording."""
    end: float
    voice: str


def spoken() -> tuple[Array, list[Sentence]]:
    """The recording, ``(samples,)`` float32 at 16 kHz, and its sentences. ``ConfigError`` without Kokoro."""
    engine = KokoroSynthesizer()
    voices = {voice.variant: voice for voice in english_voices(engines=[KOKORO])}
    pause = np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)
    pieces, sentences = [pause], []
    for name, keyword, text in _SENTENCES:
        samples = levelled(engine.speak(text, voices[name]))
        start = sum(map(len, pieces)) / SAMPLE_RATE
        end = start + len(samples) / SAMPLE_RATE
        sentences.append(Sentence(text, keyword, round(start, 2), round(end, 2), voices[name].name))
        pieces += [samples, pause]
    return with_noise(np.concatenate(pieces)), sentences


def main() -> None:
    """Write the recording, and its sentences next to it."""
    samples, sentences = spoken()
    path = assets_folder() / "audio" / FILE
    write(path, samples)
    write_json(path.with_suffix(".json"), {"file": FILE, "sentences": [asdict(one) for one in sentences]})


if __name__ == "__main__":
    main()
