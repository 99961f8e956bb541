"""``python -m scripts.make_micro_trunk``: recordings of speech -> the trunk that a student for microWakeWord begins with.

Synthetic voices alone teach a small network synthetic voices. So it first learns, from people, what two larger networks say
of speech: the phoneme recogniser and the speech embedding that every model of two stages brings. The shipped trunk was made
with the turns of the starter pack's people in ``varied_speech``, with ``languages`` and ``speech_commands`` and with clips
of "forward", "happy", "house", "operator", "sheila", "think engine" and "visual" that ``wakeword train`` synthesised::

    python -m scripts.make_micro_trunk --out assets/encoders/micro.npz --background varied_speech --background languages \\
        --words speech_commands --words runs/forward --words runs/happy ...
"""

import logging
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from torch import Tensor

from scripts.encoder.encoder_file import save_encoder
from scripts.encoder.micro_trunk import PHONEME_HOP, TrunkLessons, pretrained
from scripts.one_line_errors import one_line_errors
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.installed import encoders_folder
from wakeword.verify.embedding import embeddings_of
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, file_digest, load_embedding, load_phonemes
from wakeword_export.micro.filterbank import micro_features
from wakeword_export.student.scenes import far_away
from wakeword_export.student.separable_network import TRUNK
from wakeword_tools.kinds import Kind
from wakeword_train.data.clips import read_folder
from wakeword_train.data.household import household_of
from wakeword_train.data.mixed_sounds import NoiseSource
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.starter import STARTER, pack_path, read_pack
from wakeword_train.recipe import default_recipe

SECONDS = 6
"""Of a stretch."""
FRAMES = 100 * SECONDS - 2
TOKENS = 55
"""Tokens of the recogniser that are learned: those that it says most."""
_VERSIONS = 2
_SPREAD = np.array([0.5, 0.8, 1, 1, 1, 0.8, 0.5], np.float32)
"""How far a phoneme, which the recogniser says for a fiftieth of a second, reaches in time."""
_JOINED = 2 * 60 * SAMPLE_RATE
"""Samples of a recording of single words, one after the other."""


def stretches(recordings: list[Array]) -> list[Array]:
    """Recordings in pieces of ``SECONDS``; the last one of each is filled with silence or left out."""
    size, found = SECONDS * SAMPLE_RATE, []
    for samples in recordings:
        for first in range(0, len(samples) - size // 2, size):
            piece = samples[first : first + size]
            found.append(np.pad(piece, (0, size - len(piece))).astype(np.float32))
    return found


def words_joined(words: list[Array], random: np.random.Generator) -> list[Array]:
    """Single words as recordings: in any order, at levels of their own, with short pauses."""
    found, parts = list[Array](), list[Array]()
    for number in random.permutation(len(words)):
        gain = 0.5 * 10 ** random.uniform(-0.5, 0) / max(float(np.abs(words[number]).max()), 1e-3)
        pause = np.zeros(round(SAMPLE_RATE * max(0.0, random.uniform(-0.1, 0.25))), np.float32)
        parts += [np.float32(gain) * words[number], pause]
        if sum(map(len, parts)) >= _JOINED:
            found.append(np.concatenate(parts))
            parts = []
    return [*found, np.concatenate(parts)] if parts else found


def opinions(pieces: list[Array]) -> tuple[Tensor, Tensor]:
    """What both networks say of clean pieces: ``phonemes`` and ``embedding`` of ``TrunkLessons``."""
    folder = encoders_folder()
    embedding = load_embedding(folder / EMBEDDING_FILE, file_digest(folder / EMBEDDING_FILE))
    recogniser = load_phonemes(folder / PHONEMES_FILE, file_digest(folder / PHONEMES_FILE))
    steps = 100 * SECONDS // PHONEME_HOP
    heard = [np.exp(recogniser.log_probabilities(piece))[:steps].astype(np.float16) for piece in pieces]
    mass = np.sum([some.sum(axis=0, dtype=np.float64) for some in heard], axis=0)
    blank = recogniser.tokens.index("<blank>")
    kept = [number for number in np.argsort(-mass) if number != blank][:TOKENS]
    spread = np.stack([_spread(some[:, kept].astype(np.float32), steps) for some in heard])
    embedded = np.stack([embeddings_of(embedding, piece)[: 100 * SECONDS // 8 - 1] for piece in pieces])
    return torch.from_numpy(spread), torch.from_numpy(embedded.astype(np.float16))


def _spread(said: Array, steps: int) -> NDArray[np.uint8]:
    """``(at most steps, tokens)`` -> ``(steps, tokens + 1)`` in 255ths; the last one is the rest."""
    reach = len(_SPREAD) // 2
    padded = np.pad(said, ((reach, reach + steps - len(said)), (0, 0)))
    shares = sum(weight * padded[place : place + steps] for place, weight in enumerate(_SPREAD))
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    rest = np.maximum(0, 1 - shares.sum(axis=1, keepdims=True))
    found: NDArray[np.uint8] = np.rint(255 * np.concatenate([shares, rest], axis=1)).astype(np.uint8)
    return found


def heard_anew(pieces: list[Array], generator: torch.Generator) -> Tensor:
    """Features of the pieces in other rooms, noises and levels, ``(pieces, FRAMES, 40)``."""
    samples, found = SECONDS * SAMPLE_RATE, []
    noise = NoiseSource(
        2 * samples, generator, household=household_of(None, seed=0), household_share=0.75, recorded=None
    )
    settings = far_away(default_recipe().augmentation)
    for some in torch.split(torch.arange(len(pieces)), 64):
        waves = torch.from_numpy(np.stack([pieces[number] for number in some]))
        found += [micro_features([wave.numpy()])[:FRAMES] for wave in noise.recorded_anew(waves, settings)]
    return torch.from_numpy(np.stack(found))


def recordings_of(background: list[Path], words: list[Path], random: np.random.Generator) -> list[Array]:
    """The recordings of the starter pack's people, where transcripts name the speakers, of other folders all, and words."""
    known = read_pack(pack_path(STARTER)).heard
    found = list[Array]()
    for folder in background:
        clips = read_folder(folder, Kind.BACKGROUND)
        if any(clip.speaker and (clip.path.stem, clip.speaker) in known for clip in clips):
            clips = [clip for clip in clips if (clip.path.stem, clip.speaker) in known]
        store = ClipStore(clips)
        found += [store.recorded(row) for row in range(len(store))]
    long = [samples for samples in found if len(samples) > SECONDS * SAMPLE_RATE]
    single = [samples for samples in found if len(samples) <= SECONDS * SAMPLE_RATE]
    single += [read_audio(path) for folder in words for path in audio_files(folder)]
    return [*long, *words_joined(single, random)]


@one_line_errors()
def main(
    out: Annotated[Path, typer.Option("--out", help="The file to write (.npz).")],
    background: Annotated[list[Path], typer.Option("--background", help="Recordings of speech; repeatable.")],
    words: Annotated[list[Path], typer.Option("--words", help="Single words; repeatable.")],
    steps: Annotated[int, typer.Option("--steps", min=1)] = 2_556,
    seed: Annotated[int, typer.Option("--seed")] = 0,
) -> None:
    """Train a trunk and write it to one file."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    log, generator = logging.getLogger(__name__), torch.Generator().manual_seed(seed)
    pieces = stretches(recordings_of(background, words, np.random.default_rng(seed)))
    hours = len(pieces) * SECONDS / 3600
    log.info("%.1f h of speech", hours)
    frames = torch.stack([heard_anew(pieces, generator) for _ in range(_VERSIONS)])

    def progress(step: int, loss: float) -> None:
        if step % 500 == 0:
            log.info("step %d of %d: loss %.3f", step, steps, loss)

    network = pretrained(TrunkLessons(frames, *opinions(pieces)), steps, seed=seed, progress=progress)
    folders = sorted(folder.name for folder in (*background, *words))
    save_encoder(network, out, parts=TRUNK, provenance={"folders": folders, "hours": round(hours, 2), "steps": steps})


if __name__ == "__main__":
    typer.run(main)
