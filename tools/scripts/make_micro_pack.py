"""Makes the second file of the starter pack, ``starter-micro.pack``, for words of microWakeWord's engines.

``python -m scripts.make_micro_pack FOLDER``: microWakeWord's features of the speech with which ``starter.pack`` begins,
from the folder that ``scripts.make_pack`` was given first. The same recordings give the same bytes.
"""

import argparse
import hashlib
import io
import json
import lzma
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.make_pack import packed_recordings
from wakeword.base.errors import DataError
from wakeword.base.files import write_whole
from wakeword_export.micro.filterbank import FRAME, micro_features
from wakeword_export.student.rounded_pack import MICRO_PACK_VERSION, encoded_frames, recordings_digest
from wakeword_tools.transcripts import TimedText, TranscribedSpeech, read_transcripts, turns
from wakeword_train.pack.starter import STARTER, SUFFIX, SpeechPack, pack_path, read_pack


def micro_frames(folder: Path, pack: SpeechPack) -> NDArray[np.uint8]:
    """The features of a pack's speech, ``(frames, 40)``. ``DataError`` if the folder has other recordings."""
    wanted = {(one.source, one.speaker) for one in pack.recordings}
    utterances = read_transcripts(folder)
    found = list[tuple[TimedText, list[TranscribedSpeech]]]()
    found += [(turn, []) for turn in turns(utterances) if (turn.path.stem, turn.speaker) in wanted]
    frames: list[NDArray[np.uint8]] = []
    for number, (recording, samples) in enumerate(packed_recordings(found)):
        expected = pack.recordings[number] if number < len(pack.recordings) else None
        if expected is None or (recording.source, recording.frames) != (expected.source, expected.frames):
            raise DataError(
                f"{folder}: expected the recordings of {pack.path.name}, got others from {recording.source} on"
            )
        own = micro_features([samples, np.zeros(4 * FRAME, np.float32)])
        frames.append(own[: recording.frames])
    return np.concatenate(frames)


def write_micro_pack(path: Path, frames: NDArray[np.uint8], pack: SpeechPack) -> None:
    """Write the features ``(frames, 40)`` of the first recordings of ``pack``. The same input gives the same bytes.

    ``DataError`` if the frames end inside a recording.
    """
    digest = recordings_digest(pack, len(frames))
    if not digest:
        raise DataError(f"{pack.path}: expected the frames of whole recordings, got {len(frames)}")
    mean = frames.mean(axis=0).astype(np.float32)
    codes = encoded_frames(frames, mean)
    header = {"version": MICRO_PACK_VERSION, "recordings": digest, "licence": pack.licence}
    content = io.BytesIO()
    np.savez(content, header=np.frombuffer(json.dumps(header).encode(), np.uint8), mean=mean, codes=codes)
    write_whole(path, lzma.compress(content.getvalue(), preset=6))


def main() -> None:
    """Write the file and print what it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pack", default=STARTER, help="the first file; a name or a path")
    given = parser.parse_args()
    pack = read_pack(pack_path(given.pack))
    out = pack.path.with_name(f"{pack.path.stem}-micro{SUFFIX}")
    write_micro_pack(out, micro_frames(given.folder, pack), pack)
    data = out.read_bytes()
    print(f"{out.name}: {len(pack.people)} people, {pack.hours:.2f} h, {len(data)} bytes")  # noqa: T201
    print(hashlib.sha256(data).hexdigest())  # noqa: T201


if __name__ == "__main__":
    main()
