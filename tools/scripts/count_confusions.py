"""Counts what the phoneme recogniser hears for each phoneme: ``assets/encoders/confusions.json``.

``python -m scripts.count_confusions FOLDER...``: folders of recordings with transcripts, of which the people are taken whom
``scripts.make_recogniser`` leaves out: a recogniser confuses less in people whom it was taught by. The dictionary gives the
phonemes of each utterance, the recogniser gives what it hears, and the two are aligned with the fewest edits. The same
recordings give the same table. ``--foreign CODE=FOLDER`` counts other languages, in the symbols of ``plain_sounds``, and
``--recogniser FOLDER`` another recogniser than the included one. ``--errors`` compares recognisers by what they get wrong.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from scripts.ear.ear_lessons import read_taught
from scripts.ear.ear_speech import SpokenUtterance
from scripts.ear.foreign_speech import read_foreign
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_whole
from wakeword.base.types import Array
from wakeword.model.installed import encoders_folder
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, PhonemeNetwork
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.texts.phonemes import is_vowel
from wakeword_tools.texts.plain_sounds import is_plain_vowel, plain_sounds
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, IPA, LEFT_OUT

_MAX_SECONDS = 9.0
_MAX_WRONG = 0.6
"""Edits by phoneme beyond which a transcript is taken to be of something else."""

Counts = Mapping[str, Counter[str]]


def heard_tokens(network: PhonemeNetwork, log_probabilities: Array) -> list[str]:
    """The likeliest tokens of ``(frames, tokens)``, repetitions and those that stand between phonemes left out."""
    best = log_probabilities.argmax(axis=1)
    changes = best[np.flatnonzero(np.diff(best, prepend=-1))]
    return [token for one in changes.tolist() if (token := network.tokens[one]) not in (BLANK, WORD_BOUNDARY)]


def aligned(phonemes: Sequence[str], heard: Sequence[str]) -> tuple[list[tuple[str, str]], float]:
    """Which token stands for which phoneme, with the fewest edits, and their cost.

    A phoneme without a token stands with ``LEFT_OUT``; tokens without a phoneme are left out.
    """
    vowels = {token for phoneme, tokens in IPA.items() if is_vowel(phoneme) for token in tokens.split()}

    def differs(phoneme: str, token: str) -> float:
        if token in IPA.get(phoneme, phoneme).split():
            return 0.0
        if phoneme not in IPA:
            return 0.8 if is_plain_vowel(phoneme) == is_plain_vowel(token) else 1.4
        return 0.8 if is_vowel(phoneme) == (token in vowels) else 1.4

    costs = np.zeros((len(phonemes) + 1, len(heard) + 1))
    costs[:, 0], costs[0] = np.arange(len(phonemes) + 1), np.arange(len(heard) + 1)
    for i, phoneme in enumerate(phonemes, 1):
        for j, token in enumerate(heard, 1):
            kept = costs[i - 1, j - 1] + differs(phoneme, token)
            costs[i, j] = min(kept, costs[i - 1, j] + 1, costs[i, j - 1] + 1)
    pairs, i, j = [], len(phonemes), len(heard)
    while i or j:
        if i and j and costs[i, j] == costs[i - 1, j - 1] + differs(phonemes[i - 1], heard[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((phonemes[i], heard[j]))
        elif i and costs[i, j] == costs[i - 1, j] + 1:
            i -= 1
            pairs.append((phonemes[i], LEFT_OUT))
        else:
            j -= 1
    return pairs[::-1], float(costs[-1, -1])


def count(network: PhonemeNetwork, utterances: Iterable[SpokenUtterance]) -> Counts:
    """How often each token was heard for each phoneme."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in utterances:
        if len(one.samples) > _MAX_SECONDS * SAMPLE_RATE:
            continue
        phonemes = [phone.rstrip("012") for word in one.words for phone in word[0].phones]
        pairs, edits = aligned(phonemes, heard_tokens(network, network.log_probabilities(one.sound)))
        if edits <= _MAX_WRONG * len(phonemes):
            for phoneme, token in pairs:
                found[phoneme][token] += 1
    return found


def sounds_wrong(network: PhonemeNetwork, utterances: Iterable[SpokenUtterance]) -> tuple[int, int]:
    """The fewest edits from what is said in other languages to what is heard, and the sounds that are said. What is heard
    is written in ``plain_sounds`` too, so that recognisers of different habits can be compared."""
    edits = sounds = 0
    for one in utterances:
        if len(one.samples) <= _MAX_SECONDS * SAMPLE_RATE:
            said = [sound for word in one.words for sound in word[0].phones]
            tokens = heard_tokens(network, network.log_probabilities(one.sound))
            heard = [sound for token in tokens for sound in plain_sounds(token, ENGLISH)]
            edits, sounds = edits + _edits(said, heard), sounds + len(said)
    return edits, sounds


def _edits(said: Sequence[str], heard: Sequence[str]) -> int:
    costs = np.arange(len(heard) + 1)
    for sound in said:
        kept = np.minimum(costs[1:] + 1, costs[:-1] + [sound != one for one in heard])
        costs = np.minimum.accumulate(np.concatenate([costs[:1] + 1, kept]) - np.arange(len(costs))) + np.arange(
            len(costs)
        )
    return int(costs[-1])


def print_errors(network: PhonemeNetwork, folders: Iterable[str], readers: Sequence[str]) -> None:
    """Print the share of sounds that are wrong in each folder of another language, ``CODE=FOLDER``."""
    every = []
    for folder in folders:
        edits, sounds = sounds_wrong(network, read_foreign([folder], readers)[1])
        every.append((edits, sounds))
        print(f"{Path(folder).name}: {edits / max(1, sounds):.1%} of {sounds} sounds")  # noqa: T201
    edits, sounds = np.sum(every, axis=0)
    print(f"all: {edits / sounds:.1%} of {sounds} sounds")  # noqa: T201


def main() -> None:
    """Write the table and print how many phonemes were counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--foreign", action="append", default=[], help="a folder of another language, as de=FOLDER")
    parser.add_argument("--recogniser", type=Path, default=encoders_folder(), help="the folder of another recogniser")
    parser.add_argument("--leave-out", action="append", default=[], help="a reader who was not taught; repeatable")
    parser.add_argument("--errors", action="store_true", help="print what is wrong in --foreign, and write nothing")
    given = parser.parse_args()
    encoders = given.recogniser
    digest = file_digest(encoders / PHONEMES_FILE)
    network = load_phonemes(encoders / PHONEMES_FILE, digest)
    if given.errors:
        print_errors(network, given.foreign, given.leave_out)
        return
    strangers = read_taught(given.folders, given.leave_out)[1] + read_foreign(given.foreign, given.leave_out)[1]
    counts = count(network, strangers)
    table = {phoneme: dict(counts[phoneme].most_common()) for phoneme in sorted(counts)}
    write_whole(
        encoders / CONFUSIONS_FILE,
        (
            json.dumps(
                {
                    "phonemes_digest": digest,
                    "recordings": [Path(folder).name for folder in (*given.folders, *given.foreign)],
                    "counts": table,
                },
                ensure_ascii=False,
                indent=1,
            )
            + "\n"
        ).encode(),
    )
    print(f"{sum(sum(one.values()) for one in counts.values())} phonemes")  # noqa: T201


if __name__ == "__main__":
    main()
