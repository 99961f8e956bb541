"""Whether synthetic voices say what they were given: a phoneme recogniser hears every clip of the keyword.

A voice, which may have read a made-up word in its own way, is left out if its typical clip fits the word's phonemes far
worse than clips of other voices do. Formant voices are hard to recognise even where they are right, so a voice is
compared with the voices of its own engine too. How a word is read depends on the accent more than on the speaker:
voices with few clips are judged together with all others of their accent.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from wakeword.audio.audio_file import read_audio
from wakeword.verify.phoneme_verifier import KeywordPhonemes, PhonemeNetwork
from wakeword_tools.clips.manifest import MANIFEST, Row, read_manifest, write_manifest
from wakeword_tools.texts.recogniser import RecognisedWay

POOR = -4.0
"""A typical score of a voice below this may be a mispronunciation: at -6, half of a word's phonemes are others."""
_BELOW_ENGINE = 1.5
"""How far below the typical score of its engine's voices a voice is left out."""
_ENOUGH = 4
"""Clips from which on a voice, or an accent, is judged by itself."""
_HEARD = 6
"""Clips of a voice, or of an accent, that are heard at most: the typical one is hardly another with more."""
_MAX_LEFT_OUT = 0.5
"""Share of the voices of an engine: if more fit badly, the network is not to be trusted with that engine."""


@dataclass(frozen=True)
class VoiceScore:
    """What the recogniser heard of one voice, or of all voices of an accent."""

    voice: str
    """Its name, or engine and accent."""
    engine: str
    score: float
    """Score of its typical clip: at most 0, the fit of the word's phonemes, by phoneme."""
    clips: int
    left_out: bool = False


def voice_scores(manifest: Path, ways: Sequence[RecognisedWay], network: PhonemeNetwork) -> list[VoiceScore]:
    """Every voice of a folder of clips of the keyword, the worst first, and whether to leave it out.

    ``ways``: to say the word, as the recogniser's tokens. Raises ``DataError`` if the manifest cannot be read.
    """
    keyword = KeywordPhonemes([way.variant for way in ways], network.tokens, [way.losses for way in ways])
    heard: dict[tuple[str, str], list[float]] = {}
    rows = read_manifest(manifest)
    names = _names(rows)
    counts: Counter[tuple[str, str]] = Counter()
    for row, name in zip(rows, names, strict=True):
        judged = (str(row.content.get("engine", "")), name)
        counts[judged] += 1
        if counts[judged] > _HEARD:
            continue
        score = keyword.score(network.log_probabilities(read_audio(manifest.parent / row.file)))
        heard.setdefault(judged, []).append(score)
    voices = [
        VoiceScore(voice, engine, float(median(scores)), counts[engine, voice])
        for (engine, voice), scores in heard.items()
    ]
    return sorted(_judged(voices), key=lambda voice: (voice.score, voice.voice))


def _names(rows: Sequence[Row]) -> list[str]:
    """By which name each clip is judged."""
    voices = [str(row.content.get("voice", row.source)) for row in rows]
    counts = Counter(voices)
    return [
        voice if counts[voice] >= _ENOUGH else f"{row.content.get('engine', '')}:{row.content.get('accent', '')}"
        for row, voice in zip(rows, voices, strict=True)
    ]


def _judged(voices: Sequence[VoiceScore]) -> list[VoiceScore]:
    judged = []
    for engine in dict.fromkeys(row.engine for row in voices):
        own = [row for row in voices if row.engine == engine]
        limit = min(POOR, median(row.score for row in own) - _BELOW_ENGINE)
        poor = {row.voice for row in own if row.score < limit and row.clips >= _ENOUGH}
        if len(poor) > _MAX_LEFT_OUT * len(own):
            poor = set()
        judged += [replace(row, left_out=row.voice in poor) for row in own]
    return judged


def without_voices(folder: Path, out: Path, left_out: frozenset[str]) -> Path:
    """Write the folder ``out`` with a manifest of the clips in ``folder`` by other voices, and return it."""
    rows = read_manifest(folder / MANIFEST)
    kept = [
        {**row.content, "file": os.path.relpath(folder / row.file, out)}
        for row, name in zip(rows, _names(rows), strict=True)
        if name not in left_out
    ]
    write_manifest(out, kept)
    return out
