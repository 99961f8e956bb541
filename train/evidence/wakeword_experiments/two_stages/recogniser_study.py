"""What phoneme recognisers hear of people whom they were not taught by: as recorded, in noise, in measured rooms, by
telephone.

A recording is found if the word's phonemes fit it better than they fit all but a small share of looks at other people's
speech, and all but the same share of looks at noise and music: a recogniser that is unsure in noise fits every word there.
"""

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword.base.types import Array, Scores
from wakeword.takes.word_region import locate_word
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, KeywordPhonemes
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_experiments.two_stages.anyword import people_of
from wakeword_experiments.two_stages.conditions import Condition
from wakeword_experiments.two_stages.measured_rooms import in_rooms, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import SNR, recording_of
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, recogniser_variants, token_costs

UNLIKELY = 0.004, 0.0005
"""Shares of looks at other speech that fit as well as a found recording, or better: the second is about half a mistake an
hour, and the first what a first stage and a head let through."""
_EVERY = 0.6
"""Seconds between two looks: the stricter share needs thousands."""
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
_MAX_FILES = 60
"""Recordings of a word; of more, as many are taken, evenly."""


def measure_recognisers(
    folders: Sequence[Path],
    words: Sequence[str],
    audio: Path,
    speech: Sequence[Path],
    noise: Sequence[Path],
    figures: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Write the figures and their page.

    ``folders``: each with a recogniser and its confusions, as ``encoders``; ``speech``: recordings of people whom none of
    them was taught by, in which none of the words is common; ``noise``: noise and music that none was taught.
    """
    recordings = [[read_audio(path) for folder in some for path in audio_files(folder)] for some in (speech, noise)]
    looks, sounds = ([look for samples in some for look in _looks(samples)] for some in recordings)
    said = {word: _said(word, audio, report) for word in words}
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    above: dict[str, dict[str, int]] = {}
    for folder in folders:
        report(f"{folder.name}: {len(looks)} looks at speech, {len(sounds)} at noise")
        path = folder / PHONEMES_FILE
        network = load_phonemes(path, file_digest(path))
        costs = token_costs(folder / CONFUSIONS_FILE)
        ways = {word: recogniser_variants(word, network.tokens, costs) for word in words}
        keywords = {
            word: KeywordPhonemes([way.variant for way in own], network.tokens, [way.losses for way in own])
            for word, own in ways.items()
        }
        others = [[network.log_probabilities(look) for look in some] for some in (looks, sounds)]
        found[folder.name], above[folder.name] = {}, {}
        for word, keyword in keywords.items():
            of_speech, of_noise = (np.sort([keyword.score(one) for one in some]) for some in others)
            own = {
                how: np.array([keyword.score(network.log_probabilities(one)) for one in said[word][how]])
                for how in _HOW
            }
            found[folder.name][word] = {how: _found(scores, of_speech, of_noise) for how, scores in own.items()}
            above[folder.name][word] = int((of_noise > _level(of_speech, UNLIKELY[-1])).sum())
    record = {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "looks": len(looks),
        "looks_at_noise": len(sounds),
        "hours": sum(map(len, recordings[0])) / SAMPLE_RATE / 3600,
        "recordings": {word: len(own["clean"]) for word, own in said.items()},
        "digests": {folder.name: file_digest(folder / PHONEMES_FILE) for folder in folders},
        "found": found,
        "noise_above": above,
    }
    write_json(figures, record)
    write_whole(
        figures.with_suffix(".md"), recogniser_page(json.loads(json.dumps(record)), figures=figures.name).encode()
    )


def _looks(samples: Array) -> Iterator[Array]:
    """Windows of a recording in which something is said, ``(PHONEME_SAMPLES,)`` each."""
    for start in range(0, len(samples) - PHONEME_SAMPLES, round(_EVERY * SAMPLE_RATE)):
        look = samples[start : start + PHONEME_SAMPLES]
        if np.abs(look).max() > _SILENT:
            yield look


def _said(word: str, audio: Path, report: Line) -> dict[str, list[Array]]:
    """Windows that end a quarter of a second after people's word, under each condition."""
    files = people_of(audio, word)
    files = [files[place] for place in np.unique(np.linspace(0, len(files) - 1, _MAX_FILES).round().astype(int))]
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


def _level(fits: Scores, share: float) -> float:
    """What all but a share of these scores, in rising order, do not exceed."""
    return float(fits[-max(1, round(share * len(fits)))])


def _found(own: Scores, *others: Scores) -> list[float]:
    """The share of ``own`` that exceeds the level of each of ``others``, for each of ``UNLIKELY``."""
    return [float(np.mean(own > max(_level(fits, share) for fits in others))) for share in UNLIKELY]


def recogniser_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    names = list(record["found"])
    of_all, strict = (f"{100 * share:g}" for share in UNLIKELY)
    lines = [
        "# Recognisers",
        "",
        "The share of recordings of people, in per cent, whose word's phonemes fit what a recogniser hears better than "
        f"they fit all but {strict} % of {record['looks']} looks at {record['hours']:.1f} h of other people's speech, and "
        f"better than all but as many of {record['looks_at_noise']} looks at noise and music; in brackets: all but "
        f"{of_all} %. None of these people, noises and rooms had a part when Whisper's encoder was taught. Each recogniser "
        "has the table of its own confusions.",
        "",
        f"Looks at noise and music that reach what {strict} % of the looks at speech reach, word by word: "
        + "; ".join(f"{name} {', '.join(map(str, record['noise_above'][name].values()))}" for name in names)
        + ".",
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
