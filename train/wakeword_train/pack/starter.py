"""The file of the starter pack, and what is read from it.

All recordings stand one after the other on one time line, as if they were one long recording with transcripts: frame
``i`` is the MFCC of the sound from ``10 i`` ms on, embedding ``k`` ends with frame ``8 k + 7``, and each recording
begins with a whole block of embeddings. Nothing in it can be played.
"""

import hashlib
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from wakeword.audio.features import FeatureConfig
from wakeword.base.errors import ConfigError, DataError, raising
from wakeword.base.files import read_limited
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.training_record import DAMAGED_ARCHIVE
from wakeword_tools.transcripts import TimedText, TranscribedSpeech

BLOCK = 16
"""Rows that are transformed together."""
_LARGEST = 127


@dataclass(frozen=True)
class BlockCodec:
    """How the rows of one kind, ``(rows, width)``, become small integers: each coefficient of the cosine
    transform of a block of them is rounded to its step."""

    mean: Array
    """``(width,)``."""
    steps: Array
    """The step of each coefficient, in the units of the rows: ``(BLOCK, width)``. The first index is the frequency in time,
    and 0 the mean of a block."""

    def encode(self, rows: Array) -> NDArray[np.int8]:
        """``(BLOCK n, width)`` -> ``(BLOCK, width, n)``. ``DataError`` for another number of rows."""
        if len(rows) % BLOCK:
            raise DataError(f"expected a multiple of {BLOCK} rows to encode, got {len(rows)}")
        blocks = (rows - self.mean).reshape(-1, BLOCK, len(self.mean))
        rounded = np.round(np.tensordot(transform(), blocks, (1, 1)).transpose(0, 2, 1) / self.steps[:, :, None])
        return rounded.clip(-_LARGEST, _LARGEST).astype(np.int8)

    def decode(self, codes: NDArray[np.int8]) -> Array:
        """``(BLOCK, width, n)`` -> ``(BLOCK n, width)`` float32."""
        coefficients = codes * self.steps[:, :, None]
        blocks = np.tensordot(transform().T, coefficients, (1, 0)).transpose(2, 0, 1)
        rows: Array = (blocks.reshape(-1, len(self.mean)) + self.mean).astype(np.float32)
        return rows


def transform() -> Array:
    """The orthonormal cosine transform of a block, ``(BLOCK, BLOCK)``: times a block it gives the coefficients."""
    matrix: Array = dct(np.eye(BLOCK, dtype=np.float32), axis=0, norm="ortho")
    return matrix


STARTER, NOISE, MICRO, OTHERS, FOREIGN = "starter", "noise", "starter-micro", "others-micro", "foreign"
"""Names of packs. The extra ``train`` installs the first four: people's speech, noise and music as the recogniser hears it,
and microWakeWord's features of the same speech, for students, and of other people's, for their cutoffs; ``languages`` has
speech of other languages, each recording's name begins with its code."""
_SINCE = {STARTER: "1.0", NOISE: "1.3", MICRO: "1.4", OTHERS: "1.4"}
"""The version of the package that first had a pack as it is now."""
BACKGROUND_PACKAGE = "wakeword_background"
"""The package that holds it: 29 MB that a computer which only listens does not need."""
SUFFIX = ".pack"
FRAMES_A_SECOND = 100
FRAMES_OF_PHONEME = 2
"""MFCC frames in one frame of the phoneme recogniser."""
LOSS_STEP = 0.25
_UNLISTED = 7.0
"""What a token loses that a frame does not list. With this number the tenth of looks that "computer", "jarvis" and "alexa"
fit best fits 0.10 to 0.18 better than with the recogniser in use; with 8 it fits 0.06 to 0.12 worse, which would promise
too much."""
PACK_VERSION = 1
_MAX_BYTES = 64 * 2**20
_MAX_UNPACKED = 512 * 2**20
"""A file of half a megabyte can unpack to gigabytes."""


def hours_of(frames: float) -> float:
    """How long this number of MFCC frames is."""
    return frames / FRAMES_A_SECOND / 3600


@dataclass(frozen=True)
class PackedRecording:
    """Speech of one person, in sequence, or other sound."""

    source: str
    """The collection's recording, without the suffix of its name."""
    speaker: str
    """Empty where no person can be named: music, noise."""
    frames: int
    utterances: tuple[tuple[float, float, str], ...] = ()
    """Start and end in seconds of the recording, and the text."""

    @property
    def person(self) -> str:
        """The speaker, with the collection that the source is a numbered part of; of other sound the whole source."""
        collection = self.source.rpartition("-")[0] if self.speaker else ""
        return f"{collection or self.source}/{self.speaker}"


@dataclass(frozen=True)
class Phonemes:
    """What the phoneme recogniser hears: the likeliest tokens of each of its frames, and how much less likely they are."""

    starts: NDArray[np.int64]
    """Where the tokens of each frame begin, and the end of the last: ``(frames + 1,)``."""
    tokens: NDArray[np.uint8]
    losses: NDArray[np.uint8]
    """How far each is below the likeliest of its frame, as a logarithm in steps of ``LOSS_STEP``."""

    def between(self, first: int, last: int, n_tokens: int, blank: int) -> Array:
        """The losses of all tokens, negative, in the frames ``first`` to ``last``, ``(last - first, n_tokens)``.

        ``blank`` is the likeliest token in frames outside the pack.
        """
        losses = np.full((last - first, n_tokens), -_UNLISTED, np.float32)
        inside = range(max(first, 0), min(last, len(self.starts) - 1))
        losses[: max(0, inside.start - first), blank] = 0
        losses[max(0, inside.stop - first) :, blank] = 0
        if inside:
            listed = slice(self.starts[inside.start], self.starts[inside.stop])
            frames = np.repeat(inside, np.diff(self.starts[inside.start : inside.stop + 1])) - first
            losses[frames, self.tokens[listed]] = -LOSS_STEP * self.losses[listed].astype(np.float32)
        return losses


@dataclass(frozen=True, kw_only=True)
class PackedSpeech:
    """The recordings of a pack that was read."""

    path: Path
    recordings: tuple[PackedRecording, ...]
    licence: str
    digest: str
    """SHA-256 of the file, in hex."""

    @property
    def hours(self) -> float:
        """Hours of speech and other sounds."""
        return hours_of(sum(recording.frames for recording in self.recordings))

    @property
    def transcripts(self) -> list[TranscribedSpeech]:
        """The utterances on the time line of the pack, by start; a recording without any is one of unknown text."""
        utterances, begin = [], 0
        for recording in self.recordings:
            offset, length = begin / FRAMES_A_SECOND, recording.frames / FRAMES_A_SECOND
            for start, end, text in recording.utterances or ((0.0, length, ""),):
                utterances.append(
                    TranscribedSpeech(self.path, offset + start, offset + min(end, length), text, recording.person)
                )
            begin += recording.frames
        return utterances

    @property
    def parts(self) -> list[TimedText]:
        """The recordings on the time line."""
        ends = np.cumsum([recording.frames for recording in self.recordings]) / FRAMES_A_SECOND
        starts = [0.0, *ends[:-1].tolist()]
        return [
            TimedText(self.path, start, end, recording.person)
            for recording, start, end in zip(self.recordings, starts, ends.tolist(), strict=True)
        ]

    @property
    def people(self) -> frozenset[str]:
        """Everyone who speaks in it."""
        return frozenset(part.person for part in self.recordings if part.speaker)

    @property
    def heard(self) -> frozenset[tuple[str, str]]:
        """Source and speaker of every recording: no one among them is a stranger to a model trained with the pack."""
        return frozenset((part.source, part.speaker) for part in self.recordings)


@dataclass(frozen=True, kw_only=True)
class RecognisedPack(PackedSpeech):
    """What the phoneme recogniser hears in a pack that was read."""

    phonemes: Phonemes
    phonemes_digest: str
    mfcc_codec: BlockCodec | None = None
    mfcc_codes: NDArray[np.int8] | None = None
    """What the codec made of the MFCC of all recordings, ``(BLOCK, n_mfcc, blocks)``; noise has phonemes alone."""


@dataclass(frozen=True, kw_only=True)
class SpeechPack(RecognisedPack):
    """A pack that was read."""

    mfcc_codec: BlockCodec
    mfcc: Array
    """``(frames, n_mfcc)`` float32, rounded as the codec does."""
    embedding_codec: BlockCodec
    embeddings: NDArray[np.float16]
    """``(frames / 8, 96)``."""
    embedding_digest: str
    """SHA-256 of the network that made them; with another they are worthless."""


def pack_path(name: str) -> Path:
    """The file of a pack by its name, or a path. ``ConfigError`` if there is none."""
    since = _SINCE.get(name)
    path = _installed_path(name) if since else Path(name)
    if path is None or path.suffix != SUFFIX or not path.is_file():
        wanted = (
            f"{name}{SUFFIX} of wakeword-background {since} or newer, found none: install wakeword[train] again"
            if since
            else f"{STARTER!r} or a file ({SUFFIX}) that python -m scripts.make_pack wrote as starter_pack, got {name!r}"
        )
        raise ConfigError(f"expected {wanted}")
    return path


def _installed_path(name: str) -> Path | None:
    """A pack of this checkout, otherwise of the package that the extra ``train`` installs, if it is there."""
    file = f"{name}{SUFFIX}"
    own = assets_folder().parent / "background" / BACKGROUND_PACKAGE / file
    if own.is_file():
        return own
    found = find_spec(BACKGROUND_PACKAGE)
    return Path(found.origin).with_name(file) if found and found.origin else None


@lru_cache(maxsize=1)
def read_pack(path: Path) -> SpeechPack:
    """The pack in a file. ``DataError`` if it is damaged, or of another version or other features."""
    return read_packed(path, _pack)


def read_recognised(path: Path) -> RecognisedPack:
    """``read_pack`` without the parts that need no phonemes, which take longer to unpack."""
    return read_packed(path, _recognised)


_Kind = TypeVar("_Kind")
Arrays = dict[str, NDArray[Any]]


def read_packed(
    path: Path,
    read: Callable[[PackedSpeech, dict[str, Any], Arrays], _Kind],
    features: str = FeatureConfig().fingerprint,
) -> _Kind:
    """What ``read`` makes of the recordings, the header and the arrays of a file. ``DataError`` if it is damaged, or of
    another version or other ``features``."""
    with raising(DataError, f"{path}: expected a pack of speech features, could not read it", *DAMAGED_ARCHIVE):
        data = read_limited(path, _MAX_BYTES)
        arrays = _unpacked(data)
        header = json.loads(arrays["header"].tobytes().decode())
        if header["version"] != PACK_VERSION or header.get("features") != features:
            raise DataError(f"{path}: expected a pack of version {PACK_VERSION} and of these features; make it again")
        recordings = tuple(
            PackedRecording(
                one["source"], one["speaker"], one["frames"], tuple((s, e, t) for s, e, t in one["utterances"])
            )
            for one in header["recordings"]
        )
        digest = hashlib.sha256(data).hexdigest()
        own = PackedSpeech(path=path, recordings=recordings, licence=header["licence"], digest=digest)
        return read(own, header, arrays)


def _unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a file's bytes. ``ValueError`` for more than ``_MAX_UNPACKED``, and other errors for no pack."""
    decompressor = lzma.LZMADecompressor()
    content = decompressor.decompress(data, max_length=_MAX_UNPACKED)
    if not decompressor.eof:
        raise ValueError(f"it is cut short, or unpacks to more than {_MAX_UNPACKED} bytes")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
            raise ValueError(f"it unpacks to more than {_MAX_UNPACKED} bytes")
    with np.load(io.BytesIO(content)) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _recognised(own: PackedSpeech, header: dict[str, Any], arrays: Arrays) -> RecognisedPack:
    counts = arrays["phoneme_counts"].astype(np.int64)
    tokens, losses = arrays["phoneme_tokens"], arrays["phoneme_losses"]
    return RecognisedPack(
        **vars(own),
        phonemes=Phonemes(np.concatenate([[0], np.cumsum(counts)]), tokens, losses),
        phonemes_digest=header["phonemes_digest"],
        mfcc_codec=_codec(arrays, "mfcc") if "mfcc" in arrays else None,
        mfcc_codes=arrays.get("mfcc"),
    )


def _codec(arrays: Arrays, name: str) -> BlockCodec:
    return BlockCodec(arrays[f"{name}_mean"], arrays[f"{name}_steps"])


def _pack(own: PackedSpeech, header: dict[str, Any], arrays: Arrays) -> SpeechPack:
    heard = _recognised(own, header, arrays)
    codec, digest = _codec(arrays, "embedding"), header["embedding_digest"]
    mfcc = _codec(arrays, "mfcc").decode(arrays["mfcc"])
    embeddings = codec.decode(arrays["embedding"]).astype(np.float16)
    return SpeechPack(**vars(heard), mfcc=mfcc, embedding_codec=codec, embeddings=embeddings, embedding_digest=digest)
