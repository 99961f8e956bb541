"""What phoneme recognisers hear of people whom they were not taught by: as recorded, in noise, in measured rooms, by
telephone.

A recording is found if the word's phonemes fit it better than they fit all but a small share of looks at other people's
speech.
"""

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from wakeword.audio.audio_folders import audio_files
from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword.base.types import Array, Scores
from wakeword.takes.word_region import locate_word
from wakeword.verify.phoneme_verifier import KeywordPhonemes
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword.verify.verifier import PHONEME_SAMPLES
from wakeword_experiments.two_stages.anyword import people_of
from wakeword_experiments.two_stages.conditions import Condition
from wakeword_experiments.two_stages.measured_rooms import in_rooms, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import SNR, recording_of
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, recogniser_variants, token_costs

UNLIKELY = 0.004, 0.0005
"""Shares of looks at other speech that fit as well as a found recording, or better: the second is about half a mistake an
hour, and the first what a first stage and a head let through."""
_EVERY = 1.05
"""Seconds between two looks at speech: the stricter share needs thousands."""
_AFTER = SAMPLE_RATE // 4
"""Samples of a look after the word."""
_SILENT = 0.01
_HOW = {
    "clean": "as recorded",
    "noisy": "in noise at 10 dB",
    "loud": "in noise at 5 dB",
    "room": "in measured rooms in turn",
    "narrow": "at 8 kHz",
}
_LOUD_SNR = SNR - 5
_NARROW_RATE = 8_000
_MOST = 60
"""Recordings of a word; of more, as many are taken, evenly."""


def measure_recognisers(
    folders: Sequence[Path],
    words: Sequence[str],
    audio: Path,
    speech: Sequence[Path],
    figures: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Write the figures and their page.

    ``folders``: each with a recogniser and its confusions, as ``encoders``; ``speech``: recordings of people whom none of
    them was taught by, in which none of the words is common.
    """
    recordings = [read_audio(path) for folder in speech for path in audio_files(folder)]
    looks = [look for samples in recordings for look in _looks(samples)]
    said = {word: _said(word, audio, report) for word in words}
    found = {}
    for folder in folders:
        report(f"{folder.name}: {len(looks)} looks at speech")
        path = folder / PHONEMES_FILE
        network = load_phonemes(path, file_digest(path))
        costs = token_costs(folder / CONFUSIONS_FILE)
        ways = {word: recogniser_variants(word, network.tokens, costs) for word in words}
        keywords = {
            word: KeywordPhonemes([way.variant for way in own], network.tokens, [way.losses for way in own])
            for word, own in ways.items()
        }
        heard = [network.log_probabilities(look) for look in looks]
        found[folder.name] = {
            word: {
                how: _found(keyword, [network.log_probabilities(one) for one in said[word][how]], heard) for how in _HOW
            }
            for word, keyword in keywords.items()
        }
    record = {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "looks": len(looks),
        "hours": sum(map(len, recordings)) / SAMPLE_RATE / 3600,
        "recordings": {word: len(own["clean"]) for word, own in said.items()},
        "digests": {folder.name: file_digest(folder / PHONEMES_FILE) for folder in folders},
        "found": found,
    }
    write_json(figures, record)
    with replacing(figures.with_suffix(".md")) as temporary:
        temporary.write_text(recogniser_page(json.loads(json.dumps(record)), figures=figures.name), encoding="utf-8")


def _looks(samples: Array) -> Iterator[Array]:
    """Windows of a recording in which something is said, ``(PHONEME_SAMPLES,)`` each."""
    for start in range(0, len(samples) - PHONEME_SAMPLES, round(_EVERY * SAMPLE_RATE)):
        look = samples[start : start + PHONEME_SAMPLES]
        if np.abs(look).max() > _SILENT:
            yield look


def _said(word: str, audio: Path, report: Line) -> dict[str, list[Array]]:
    """Windows that end a quarter of a second after people's word, under each condition."""
    files = people_of(audio, word)
    files = [files[place] for place in np.unique(np.linspace(0, len(files) - 1, _MOST).round().astype(int))]
    mixer = NoiseMixer(sorted((audio / "noise").rglob("*.opus")), warn=report)
    clean = [read_audio(path) for path in files]
    rung = in_rooms([Condition("", "", one) for one in clean], read_rooms(audio / "rooms"))
    recordings = {
        "clean": clean,
        "noisy": [mixer.mix(one, recording_of(path), snr=SNR) for path, one in zip(files, clean, strict=True)],
        "loud": [mixer.mix(one, recording_of(path), snr=_LOUD_SNR) for path, one in zip(files, clean, strict=True)],
        "room": [one.samples for one in rung],
        "narrow": [_by_telephone(one) for one in clean],
    }
    ends = [locate_word(one)[0].end + _AFTER for one in clean]
    # Padded by a whole window in front, so that a window which ends at ``end`` begins there.
    return {
        how: [np.pad(one, PHONEME_SAMPLES)[end : end + PHONEME_SAMPLES] for one, end in zip(some, ends, strict=True)]
        for how, some in recordings.items()
    }


def _by_telephone(samples: Array) -> Array:
    narrow = soxr.resample(samples, SAMPLE_RATE, _NARROW_RATE)
    found: Array = soxr.resample(narrow, _NARROW_RATE, SAMPLE_RATE)
    return found


def _found(keyword: KeywordPhonemes, own: Sequence[Array], others: Sequence[Array]) -> list[float]:
    """The share of ``own`` that fits better, for each of ``UNLIKELY``."""
    fits: Scores = np.sort([keyword.score(one) for one in others])
    scores = np.array([keyword.score(one) for one in own])
    return [float(np.mean(scores > fits[-max(1, round(share * len(fits)))])) for share in UNLIKELY]


def recogniser_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    names = list(record["found"])
    of_all, strict = (f"{100 * share:g}" for share in UNLIKELY)
    lines = [
        "# Recognisers",
        "",
        "The share of recordings of people, in per cent, whose word's phonemes fit what a recogniser hears better than "
        f"they fit all but {strict} % of {record['looks']} looks at {record['hours']:.1f} h of other people's speech; in "
        f"brackets: all but {of_all} %. None of these people, noises and rooms had a part when the last of the recognisers "
        "was taught. Each has the table of its own confusions.",
    ]
    for how, name in _HOW.items():
        lines += ["", f"## {name[0].upper()}{name[1:]}", "", f"| word | recordings | {' | '.join(names)} |"]
        lines.append(f"| --- | ---: |{' ---: |' * len(names)}")
        for word, count in record["recordings"].items():
            cells = (_cell([record["found"][name][word][how]]) for name in names)
            lines.append(f"| {word} | {count} | {' | '.join(cells)} |")
        means = (_cell([word[how] for word in record["found"][name].values()]) for name in names)
        lines.append(f"| **mean** | {sum(record['recordings'].values())} | {' | '.join(means)} |")
    return "\n".join([*lines, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""])


def _cell(words: Sequence[Sequence[float]]) -> str:
    of_all, strict = 100 * np.mean(words, axis=0)
    return f"{strict:.0f} ({of_all:.0f})"
