"""Sets of spoken clips: who says what and how, drawn from a seed, and written complete or not at all."""

import dataclasses
import json
import multiprocessing
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from wakeword.audio import SAMPLE_RATE, write_audio
from wakeword.errors import SynthesisError
from wakeword.features import Array
from wakeword_tools.espeak import EspeakSynthesizer
from wakeword_tools.flite import FliteSynthesizer
from wakeword_tools.tts import Prosody, Synthesizer
from wakeword_tools.voices import ESPEAK, Voice, voice_named

MANIFEST = "manifest.jsonl"

_LEVEL, _MAX_PEAK = 0.07, 0.95
_STEP = SAMPLE_RATE // 100


@dataclass(frozen=True)
class Recipe:
    """All that decides the samples of a clip."""

    text: str
    voice: Voice
    prosody: Prosody = field(default_factory=Prosody)
    pause_before: float = 0.0
    """Seconds of silence before the speech."""
    pause_after: float = 0.0

    def to_row(self, file: str, *, seed: int) -> dict[str, object]:
        """The clip's row in a manifest."""
        return {
            "file": file,
            "text": self.text,
            "engine": self.voice.engine,
            "voice": self.voice.name,
            "source": self.voice.source,
            "group": self.voice.group,
            "prosody": dataclasses.asdict(self.prosody),
            "pause_before": self.pause_before,
            "pause_after": self.pause_after,
            "seed": seed,
            "licence": self.voice.licence,
        }

    @classmethod
    def from_row(cls, line: str) -> "Recipe":
        """Read a line of a manifest. ``SynthesisError`` if it is malformed or names an unknown voice."""
        try:
            row = json.loads(line)
            return cls(
                text=row["text"],
                voice=voice_named(row["voice"]),
                prosody=Prosody(**row["prosody"]),
                pause_before=row["pause_before"],
                pause_after=row["pause_after"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SynthesisError(f"expected a line of a {MANIFEST}, got {line[:80]!r} ({error})") from error


@dataclass(frozen=True)
class Utterance:
    """A recipe and its sound, ``(samples,)`` float32 mono at 16 kHz."""

    recipe: Recipe
    samples: Array


def plan(
    texts: Sequence[str], voices: Sequence[Voice], *, count: int, seed: int, max_pause: float = 0.0
) -> list[Recipe]:
    """``count`` recipes in which every text comes equally often (to one), and so does every source of voices.

    Rate, pitch, pitch range and pauses (up to ``max_pause`` seconds on either side) are drawn from ``seed``. Raises
    ``SynthesisError`` on no or empty texts, no voices or a ``count`` below 1.
    """
    if not texts or not all(text.strip() for text in texts):
        raise SynthesisError(f"expected at least one text and none of them empty, got {list(texts)[:5]}")
    if not voices or count < 1:
        raise SynthesisError(f"expected at least one voice and a count of 1 or more, got {len(voices)} and {count}")
    random = np.random.default_rng(seed)
    by_source: dict[str, list[Voice]] = {}
    for voice in voices:
        by_source.setdefault(voice.source, []).append(voice)
    sources = _shuffled_rounds(list(by_source), count, random)
    recipes = []
    for text, source in zip(_shuffled_rounds(texts, count, random), sources, strict=True):
        own = by_source[source]
        # Rounded, so that a manifest holds the very numbers.
        rate, pitch, pitch_range, before, after = (
            round(float(value), 3)
            for value in random.uniform((0.75, 0.6, 0.4, 0, 0), (1.35, 1.5, 1.7, max_pause, max_pause))
        )
        voice = own[int(random.integers(len(own)))]
        recipes.append(Recipe(text, voice, Prosody(rate, pitch, pitch_range), before, after))
    return recipes


def _shuffled_rounds(items: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    rounds = [random.permutation(len(items)) for _ in range(-(-count // len(items)))]
    return [items[index] for index in np.concatenate(rounds)[:count]]


@cache
def _engine(name: str) -> Synthesizer:
    return EspeakSynthesizer() if name == ESPEAK else FliteSynthesizer()


def render(recipe: Recipe) -> Utterance:
    """Speak a recipe: trimmed, brought to -23 dB of full scale without clipping, pauses added.

    Raises ``SynthesisError`` as ``Synthesizer.speak`` does. Always the same samples for the same recipe.
    """
    speech = level(trim(_engine(recipe.voice.engine).speak(recipe.text, recipe.voice, recipe.prosody)))
    pauses = [np.zeros(round(pause * SAMPLE_RATE), np.float32) for pause in (recipe.pause_before, recipe.pause_after)]
    return Utterance(recipe, np.concatenate([pauses[0], speech, pauses[1]]))


def level(samples: Array) -> Array:
    """``(samples,)``, not all zero, brought to -23 dB of full scale (root mean square), or less where a peak forbids."""
    gain = min(_LEVEL / float(np.sqrt(np.square(samples).mean())), _MAX_PEAK / float(np.abs(samples).max()))
    return samples * np.float32(gain)


def trim(samples: Array) -> Array:
    """``(samples,)`` without the silence at its ends: 10 ms blocks 45 dB under the loudest, but for one at each end."""
    steps = samples[: len(samples) - len(samples) % _STEP].reshape(-1, _STEP)
    energy = np.square(steps).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max(initial=0.0) * 10**-4.5)
    return samples[max(0, int(loud[0]) - 1) * _STEP : (int(loud[-1]) + 2) * _STEP] if len(loud) else samples


def clips(
    texts: Sequence[str], voices: Sequence[Voice], *, count: int, seed: int, max_pause: float = 0.0, jobs: int = 1
) -> Iterator[Utterance]:
    """``plan`` spoken, in memory and in order. The same for every number of ``jobs``.

    More than one job starts processes by spawning: a script needs the usual ``if __name__ == "__main__"``.
    """
    recipes = plan(texts, voices, count=count, seed=seed, max_pause=max_pause)
    if jobs <= 1:
        yield from map(render, recipes)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(render, recipes, chunksize=64)


def synthesize(
    texts: Sequence[str],
    voices: Sequence[Voice],
    out_dir: Path | str,
    *,
    count: int,
    seed: int,
    max_pause: float = 0.0,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Write ``count`` clips (16 kHz mono 16-bit FLAC) and a ``manifest.jsonl`` into the new folder ``out_dir``.

    The folder appears when it is complete; ``progress`` is called with the clips done so far. Raises
    ``SynthesisError`` if the folder is there already, and as ``clips`` does.
    """
    target = Path(out_dir)
    if target.exists():
        raise SynthesisError(f"expected a folder that is not there yet, found {target}; remove it or choose another")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        rows = []
        for index, utterance in enumerate(clips(texts, voices, count=count, seed=seed, max_pause=max_pause, jobs=jobs)):
            name = f"{index:06}.flac"
            write_audio(temporary / name, utterance.samples)
            rows.append(json.dumps(utterance.recipe.to_row(name, seed=seed), ensure_ascii=False))
            if progress is not None:
                progress(index + 1)
        (temporary / MANIFEST).write_text("\n".join([*rows, ""]), encoding="utf-8")
        temporary.chmod(0o755)
        temporary.replace(target)
    except OSError as error:
        raise SynthesisError(f"could not write the clips to {target}: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target
