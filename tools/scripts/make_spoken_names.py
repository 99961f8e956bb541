"""``python -m scripts.make_spoken_names OUT``: rare and invented words in Kokoro's training voices, for the recogniser.

Read speech has few names, and hardly any words that are said alone. Each clip has one to three words of the dictionary, or
words that differ from them in a sound or two, some after a greeting. Its transcript has the phonemes that were spoken.
Words given by ``--without`` are nowhere in it, so that they can judge. The same voices and seed give the same clips.
"""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import soundfile
import typer

from scripts.one_line_errors import one_line_errors
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import SynthesisError
from wakeword.base.files import write_whole
from wakeword_tools.engines.kokoro import KOKORO, KokoroSynthesizer
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.phonemes import Phones, dictionary, pronunciations, to_espeak
from wakeword_tools.texts.wordlike import pseudo_words
from wakeword_tools.transcripts import TRANSCRIPTS

_GREETINGS = "hey", "hello", "okay", "hi"
_WORDS, _SHARES = (1, 2, 3, -1), (0.35, 0.35, 0.1, 0.2)
"""Words of a clip, -1 for one after a greeting, and how often."""
_SOUNDS = 4, 10
_INVENTED, _LONGEST_INVENTED, _EDITS = 0.35, 8, 60
_ENGLISH = 0.75
"""Share of the clips by voices whose own accent is English."""
_RATES = 0.8, 1.25
_PEAK = 0.7


def plain(phones: Phones) -> Phones:
    """Without stress."""
    return tuple(phone.rstrip("012") for phone in phones)


def says(phones: Phones, words: Collection[Phones]) -> bool:
    """Whether one of ``words``, without stress, is in it."""
    own = plain(phones)
    return any(own[at : at + len(word)] == word for word in words for at in range(len(own)))


def drawn_words(without: Collection[Phones], random: np.random.Generator) -> Iterator[list[Phones]]:
    """The words of one clip after the other, without end."""
    low, high = _SOUNDS
    known = [
        ways[0]
        for word, ways in sorted(dictionary().items())
        if re.fullmatch("[a-z]{3,}", word) and low <= len(ways[0]) <= high and not says(ways[0], without)
    ]
    greetings = [dictionary()[word][0] for word in _GREETINGS]
    while True:
        count = int(random.choice(_WORDS, p=_SHARES))
        drawn = [_perhaps_invented(known[int(random.integers(len(known)))], without, random) for _ in range(abs(count))]
        yield drawn if count > 0 else [greetings[int(random.integers(len(greetings)))], *drawn]


def _perhaps_invented(phones: Phones, without: Collection[Phones], random: np.random.Generator) -> Phones:
    if random.random() < _INVENTED and len(phones) < _LONGEST_INVENTED:
        made = [one for one in pseudo_words(phones, random=random, of_two_edits=_EDITS) if not says(one, without)]
        if made:
            return made[int(random.integers(len(made)))]
    return phones


def _spoken(words: list[Phones], voices: list[Voice], random: np.random.Generator) -> tuple[Voice, np.ndarray]:
    english = [voice for voice in voices if voice.accent.startswith("en")]
    pool = english if random.random() < _ENGLISH else [voice for voice in voices if voice not in english]
    voice = pool[int(random.integers(len(pool)))]
    text = " ".join(map(to_espeak, words)) + ".?!"[int(random.choice(3, p=[0.7, 0.15, 0.15]))]
    return voice, KokoroSynthesizer().speak(text, voice, Prosody(rate=float(random.uniform(*_RATES))))


@one_line_errors()
def main(
    out: Annotated[Path, typer.Argument(help="Folder for the clips.")],
    without: Annotated[list[str], typer.Option("--without", help="A word that judges; repeatable.")],
    count: Annotated[int, typer.Option("--count", min=1)] = 1_500,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
) -> None:
    """Speak rare and invented words."""
    random = np.random.default_rng(seed)
    voices = [voice for voice in english_voices(engines=[KOKORO]) if voice.split is Split.TRAIN]
    judging = {plain(way) for word in without for way in pronunciations(word)}
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, words in zip(range(count), drawn_words(judging, random), strict=False):
        try:
            voice, samples = _spoken(words, voices, random)
        except SynthesisError as error:
            typer.echo(f"left out: {error}", err=True)
            continue
        name = f"{number:05}.flac"
        soundfile.write(out / name, samples * (_PEAK / np.abs(samples).max()), SAMPLE_RATE)
        rows.append(
            {
                "file": name,
                "text": " ".join(map(to_espeak, words)),
                "speaker": voice.source,
                "start": 0.0,
                "end": len(samples) / SAMPLE_RATE,
            }
        )
    write_whole(out / TRANSCRIPTS, "".join(json.dumps(row) + "\n" for row in rows).encode())
    typer.echo(f"{out}: {len(rows)} clips")


if __name__ == "__main__":
    typer.run(main)
