"""Makes the starter pack, ``background/wakeword_background/starter.pack``, from long recordings with transcripts.

``python -m scripts.make_pack FOLDER --only 'librispeech-*' --only 'speechocean762-*' --share 0.5``: the features of
that share of the speakers, whole speakers by a hash of their names, so that the others stay strangers to every model.
``--also FOLDER`` adds all recordings of another folder, where those without transcripts are sounds of no person: music,
noise. Without ``FOLDER`` it makes ``noise.pack`` of these, what the phoneme recogniser hears in them, and with
``--recogniser`` the packs of another one, of the same recordings. The recordings must
be under a licence that allows derived data; name it with ``--licence``. The same recordings give the same bytes on the same
machine.
"""

import argparse
import fnmatch
import hashlib
import io
import json
import lzma
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.features import FeatureConfig, mfcc
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.files import write_whole
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder, encoders_folder
from wakeword.verify.embedding import DIMENSION, STEP_FRAMES, embeddings_of
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, PhonemeNetwork
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, file_digest, load_embedding, load_phonemes
from wakeword_tools.transcripts import TimedText, TranscribedSpeech, read_transcripts, transcripts_beside, turns
from wakeword_train.pack.starter import (
    BLOCK,
    FRAMES_A_SECOND,
    LOSS_STEP,
    PACK_VERSION,
    STARTER,
    SUFFIX,
    BlockCodec,
    PackedRecording,
    Phonemes,
    hours_of,
)

_CONFIG = FeatureConfig()
_UNIT = BLOCK * STEP_FRAMES
"""Each recording holds a multiple of this number of frames."""
_LISTED, _MAX_LISTED = 8.0, 8
"""Tokens of a frame are listed if they lose less than this, and of these so many at most."""
_PHONEME_FRAME = SAMPLE_RATE // 50
_HEARD_AFTER = SAMPLE_RATE // 2
"""Samples the phoneme recogniser hears after those that are kept: in use a word ends up to that long before the end."""


def mfcc_steps() -> Array:
    """The steps of the MFCC relative to their deviation, ``(BLOCK, 32)``: finer for the low ones and for slow changes.

    With these, scores of the included models' first stages differ by 0.2 logits (root mean square), where they vary by 1.3.
    """
    of_coefficient = np.interp(np.arange(_CONFIG.n_mfcc), [0, 8, 20, 31], [0.25, 0.3, 0.5, 0.7])
    return np.outer(np.linspace(0.9, 1.6, BLOCK), of_coefficient).astype(np.float32)


def embedding_steps() -> Array:
    """The same for the embeddings, ``(BLOCK, 96)``."""
    return np.outer(np.linspace(0.4, 0.8, BLOCK), np.ones(DIMENSION)).astype(np.float32)


def chosen_turns(
    folder: Path, patterns: Sequence[str], share: float
) -> list[tuple[TimedText, list[TranscribedSpeech]]]:
    """The turns of the chosen speakers, each with its utterances; in a stable order.

    Raises ``DataError`` if there is none.
    """
    utterances = [
        one
        for one in read_transcripts(folder)
        if one.speaker and any(fnmatch.fnmatch(one.path.stem, pattern) for pattern in patterns)
    ]
    found = []
    for turn in turns(utterances):
        place = int(hashlib.sha256(f"{turn.path.stem.rsplit('-', 1)[0]}/{turn.speaker}".encode()).hexdigest(), 16)
        if place % 1000 < 1000 * share:
            own = [one for one in utterances if one.path == turn.path and turn.start <= one.start < turn.end]
            found.append((turn, own))
    if not found:
        raise DataError(f"{folder}: expected recordings with transcripts that name speakers, found none")
    return found


def all_turns(folder: Path) -> list[tuple[TimedText, list[TranscribedSpeech]]]:
    """Every turn of a folder with its utterances; a recording without transcripts is one part, without a speaker."""
    found = []
    for path in audio_files(folder):
        utterances = transcripts_beside([path])
        for turn in turns(utterances) or [TimedText(path)]:
            found.append((turn, [one for one in utterances if turn.start <= one.start < turn.end]))
    return found


def heard_phonemes(network: PhonemeNetwork, samples: Array, frames: int) -> Array:
    """What the recogniser says of a recording, ``(frames, tokens)``, each frame in a window as in use: two seconds, half a
    second of them after it."""
    padded = np.concatenate(
        [np.zeros(PHONEME_SAMPLES, np.float32), samples, np.zeros(PHONEME_SAMPLES + _HEARD_AFTER, np.float32)]
    )
    kept = _HEARD_AFTER // _PHONEME_FRAME
    last = (PHONEME_SAMPLES - _HEARD_AFTER) // _PHONEME_FRAME
    pieces = []
    for first in range(0, frames, kept):
        end = first * _PHONEME_FRAME + 2 * _HEARD_AFTER + PHONEME_SAMPLES
        window = np.ascontiguousarray(padded[end - PHONEME_SAMPLES : end])
        pieces.append(network.log_probabilities(window)[last - kept : last])
    return np.concatenate(pieces)[:frames].astype(np.float16)


def packed_recordings(
    found: Sequence[tuple[TimedText, list[TranscribedSpeech]]],
) -> Iterator[tuple[PackedRecording, Array]]:
    """Each turn that is long enough, with its samples, cut to whole blocks."""
    path, whole = Path(), np.zeros(0, np.float32)
    for turn, own in found:
        if turn.path != path:
            path, whole = turn.path, read_audio(turn.path)
        first, last = (round(min(time * SAMPLE_RATE, len(whole))) for time in turn.span)
        frames = _CONFIG.frames_in(last - first) // _UNIT * _UNIT
        if frames:
            samples = whole[first : first + _CONFIG.samples_in(frames)]
            length = frames / FRAMES_A_SECOND
            texts = tuple(
                (round(one.start - turn.start, 2), round(min(one.end - turn.start, length), 2), one.text)
                for one in own
                if one.start - turn.start < length and math.isfinite(one.end)
            )
            yield PackedRecording(turn.path.stem, turn.speaker, frames, texts), samples


def likeliest(log_probabilities: Array) -> Phonemes:
    """The likeliest tokens of each frame of ``(frames, tokens)``; of equals those that come first."""
    losses = np.round((log_probabilities.max(axis=1, keepdims=True) - log_probabilities) / LOSS_STEP)
    nearest = np.sort(np.argsort(losses, axis=1, kind="stable")[:, :_MAX_LISTED], axis=1)
    own = np.take_along_axis(losses, nearest, axis=1)
    listed = own < _LISTED / LOSS_STEP
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return Phonemes(starts, nearest[listed].astype(np.uint8), own[listed].astype(np.uint8))


def joined(parts: Sequence[Phonemes]) -> Phonemes:
    """Several one after the other."""
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    tokens, losses = (np.concatenate([getattr(part, name) for part in parts]) for name in ("tokens", "losses"))
    return Phonemes(np.concatenate([[0], np.cumsum(counts)]), tokens, losses)


def codec_of(rows: Array, relative: Array) -> BlockCodec:
    """A codec for ``rows``, with steps ``relative`` ``(BLOCK, width)`` to the deviation of each column."""
    deviation = rows.std(axis=0).clip(1e-6)
    return BlockCodec(rows.mean(axis=0).astype(np.float32), (relative * deviation).astype(np.float32))


def write_pack(
    path: Path,
    recordings: Sequence[PackedRecording],
    *,
    licence: str,
    phonemes: Phonemes,
    phonemes_digest: str,
    mfcc: tuple[BlockCodec, Array] | None = None,
    embeddings: tuple[BlockCodec, Array] | None = None,
    embedding_digest: str | None = None,
) -> None:
    """Write a pack: ``mfcc`` ``(frames, n_mfcc)``, ``embeddings`` ``(frames / 8, 96)`` and ``phonemes`` of ``frames / 2``
    frames, of all ``recordings`` one after the other; of noise the phonemes alone. The same input gives the same bytes."""
    arrays: dict[str, Any] = {
        "phoneme_counts": np.diff(phonemes.starts).astype(np.uint8),
        "phoneme_tokens": phonemes.tokens,
        "phoneme_losses": phonemes.losses,
    }
    for name, features in (("mfcc", mfcc), ("embedding", embeddings)):
        if features is not None:
            codec, rows = features
            arrays |= {f"{name}_mean": codec.mean, f"{name}_steps": codec.steps, name: codec.encode(rows)}
    header = {
        "features": FeatureConfig().fingerprint,
        "licence": licence,
        "embedding_digest": embedding_digest,
        "phonemes_digest": phonemes_digest,
    }
    write_packed(path, recordings, arrays, header)


def write_packed(
    path: Path, recordings: Sequence[PackedRecording], arrays: dict[str, Any], header: Mapping[str, str | None]
) -> None:
    """Write arrays of all ``recordings``; ``header``: the features, the licence, and what else is to be known of them."""
    listed = [
        {"source": one.source, "speaker": one.speaker, "frames": one.frames, "utterances": one.utterances}
        for one in recordings
    ]
    whole = {"version": PACK_VERSION, **header, "recordings": listed}
    content = io.BytesIO()
    np.savez(content, header=np.frombuffer(json.dumps(whole, ensure_ascii=False).encode(), np.uint8), **arrays)
    write_whole(path, lzma.compress(content.getvalue(), preset=6))


def make_pack(
    found: Sequence[tuple[TimedText, list[TranscribedSpeech]]], out: Path, *, licence: str
) -> tuple[int, float]:
    """Write the pack of these turns and their utterances; the number of people in it, and its hours."""
    encoders = encoders_folder()
    digests = [file_digest(encoders / name) for name in (EMBEDDING_FILE, PHONEMES_FILE)]
    embedding = load_embedding(encoders / EMBEDDING_FILE, digests[0])
    recogniser = load_phonemes(encoders / PHONEMES_FILE, digests[1])
    recordings, frames, embedded, heard = [], [], [], []
    for recording, samples in packed_recordings(found):
        recordings.append(recording)
        frames.append(mfcc(samples))
        embedded.append(embeddings_of(embedding, samples))
        heard.append(likeliest(heard_phonemes(recogniser, samples, recording.frames // 2).astype(np.float32)))
    features, embeddings = np.concatenate(frames), np.concatenate(embedded)
    write_pack(
        out,
        recordings,
        licence=licence,
        mfcc=(codec_of(features, mfcc_steps()), features),
        embeddings=(codec_of(embeddings, embedding_steps()), embeddings),
        embedding_digest=digests[0],
        phonemes=joined(heard),
        phonemes_digest=digests[1],
    )
    return len({one.person for one in recordings if one.speaker}), hours_of(len(features))


def make_heard_pack(
    found: Sequence[tuple[TimedText, list[TranscribedSpeech]]], encoders: Path, out: Path, *, licence: str
) -> tuple[int, float]:
    """Write the pack of what the recogniser in ``encoders`` hears in these turns, which may be noise and music; the number
    of people in it, and its hours."""
    digest = file_digest(encoders / PHONEMES_FILE)
    recogniser = load_phonemes(encoders / PHONEMES_FILE, digest)
    recordings, heard = [], []
    for recording, samples in packed_recordings(found):
        recordings.append(recording)
        heard.append(likeliest(heard_phonemes(recogniser, samples, recording.frames // 2).astype(np.float32)))
    write_pack(out, recordings, licence=licence, phonemes=joined(heard), phonemes_digest=digest)
    return len({one.person for one in recordings if one.speaker}), hours_of(sum(one.frames for one in recordings))


def main() -> None:
    """Write the pack and print what it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="of speech; none: a pack of noise, of --also alone")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="recordings of such names; repeatable")
    parser.add_argument("--share", type=float, default=0.5, help="share of the speakers")
    parser.add_argument(
        "--also", action="append", default=[], type=Path, metavar="FOLDER", help="all of it too; repeatable"
    )
    parser.add_argument(
        "--recogniser", type=Path, metavar="FOLDER", help="of another recogniser: what it hears, without the features"
    )
    parser.add_argument("--licence", default="CC-BY-4.0")
    parser.add_argument("--out", type=Path, default=assets_folder() / "background" / f"{STARTER}{SUFFIX}")
    given = parser.parse_args()
    found = chosen_turns(given.folder, given.only or ["*"], given.share) if given.folder else []
    for folder in given.also:
        found += all_turns(folder)
    if given.folder is None or given.recogniser:
        people, hours = make_heard_pack(found, given.recogniser or encoders_folder(), given.out, licence=given.licence)
    else:
        people, hours = make_pack(found, given.out, licence=given.licence)
    data = given.out.read_bytes()
    print(f"{given.out.name}: {people} people, {hours:.2f} h, {len(data)} bytes")  # noqa: T201
    print(hashlib.sha256(data).hexdigest())  # noqa: T201


if __name__ == "__main__":
    main()
