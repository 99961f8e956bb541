"""Recordings without names, dealt by voice: a folder of links whose names say which voice each file seems to be of.

In Picovoice's wake words some fifty people say every word several times, in files without names. ``voices.json`` has a
number for the voice of each: the 50 groups into which complete linkage divides Resemblyzer's speaker embeddings. They are
guesses from one or two seconds of sound: two people can share a group, which does no harm, and one person can be in two,
which makes the figures of these words better than they should be. ``voice_groups`` measures how much of a test that is.
"""

import importlib.resources
import json
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.base.files import new_folder


def link_by_voice(root: Path, out: Path) -> int:
    """Link the wake words in ``root`` as ``out/WORD/voiceNN_nohash_M.flac``; return the number of voices.

    Raises ``DataError`` if a recording is missing and ``ConfigError`` if ``out`` exists.
    """
    text = (importlib.resources.files("wakeword_experiments") / "voices.json").read_text(encoding="utf-8")
    voices: dict[str, int] = json.loads(text)
    missing = [name for name in voices if not (root / name).is_file()]
    if missing:
        raise DataError(
            f"{root}: expected the {len(voices)} recordings of Picovoice's wake words in folders of words, "
            f"{len(missing)} are missing, for instance {missing[0]}"
        )
    counts: dict[int, int] = {}
    with new_folder(out) as temporary:
        for name, voice in sorted(voices.items()):
            word = Path(name).parent.name
            (temporary / word).mkdir(exist_ok=True)
            number = counts[voice] = counts.get(voice, -1) + 1
            target = temporary / word / f"voice{voice:02d}_nohash_{number}{Path(name).suffix}"
            target.symlink_to((root / name).resolve())
    return len(counts)
