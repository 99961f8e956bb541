"""Makes packs of microWakeWord's features, for words of its engines.

``python -m scripts.make_micro_pack FOLDER``: ``starter-micro.pack``, the speech of ``starter.pack``, from the folder
that ``scripts.make_pack`` was given. With ``--all OUT``: all recordings of a folder, with their
transcripts. The same recordings give the same bytes.
"""

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.make_pack import all_turns, packed_recordings, write_packed
from wakeword.base.errors import DataError
from wakeword_export.micro.filterbank import FRAME, micro_features
from wakeword_export.student.rounded_pack import MICRO_FEATURES, encoded_frames
from wakeword_train.pack.starter import (
    MICRO,
    STARTER,
    SUFFIX,
    PackedRecording,
    hours_of,
    pack_path,
    read_pack,
)


def write_micro_pack(
    path: Path, recordings: Sequence[PackedRecording], frames: NDArray[np.uint8], *, licence: str
) -> None:
    """Write the features ``(frames, 40)`` of all ``recordings``, in order. The same input gives the same bytes."""
    mean = frames.mean(axis=0).astype(np.float32)
    arrays = {"mean": mean, "codes": encoded_frames(frames, mean)}
    write_packed(path, recordings, arrays, {"features": MICRO_FEATURES, "licence": licence})


def main() -> None:
    """Write the file and print what it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", type=Path, metavar="OUT", help="the file to write, of all recordings")
    parser.add_argument("--licence", default="CC-BY-4.0")
    given = parser.parse_args()
    starter, found = pack_path(STARTER), all_turns(given.folder)
    out = given.all or starter.with_name(f"{MICRO}{SUFFIX}")
    if given.all is None:
        wanted = {(one.source, one.speaker) for one in read_pack(starter).recordings}
        found = [one for one in found if (one[0].path.stem, one[0].speaker) in wanted]
        if len(found) != len(wanted):
            raise DataError(
                f"{given.folder}: expected the recordings of {starter.name}, got {len(found)} of {len(wanted)}"
            )
    recordings, frames = [], []
    for recording, samples in packed_recordings(found):
        recordings.append(recording)
        frames.append(micro_features([samples, np.zeros(4 * FRAME, np.float32)])[: recording.frames])
    write_micro_pack(out, recordings, np.concatenate(frames), licence=given.licence)
    data = out.read_bytes()
    print(f"{out.name}: {len(recordings)} recordings, {hours_of(sum(map(len, frames))):.2f} h, {len(data)} bytes")  # noqa: T201
    print(hashlib.sha256(data).hexdigest())  # noqa: T201


if __name__ == "__main__":
    main()
