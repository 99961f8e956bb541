"""The synthetic clips of ``wakeword train``: which texts are spoken for each split, and by which voices."""

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from wakeword.errors import ConfigError, DataError, SynthesisError
from wakeword.model import assets_folder
from wakeword.version import __version__
from wakeword_tools.clips.plan import Recipe
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voices import Voice
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.candidates import choose, speakable
from wakeword_tools.texts.confusables import confusables, without_sound_of
from wakeword_tools.texts.lists import read_texts, spoken_phrases
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.splits import split_texts
from wakeword_train.config import TrainConfig
from wakeword_train.points import Report
from wakeword_train.training import DataFolders

Texts = dict[Split, dict[str, float | None]]
"""The texts of each split, and the distance of each from the keyword if known."""

_SHARES = {Split.TRAIN: 1.0, Split.VALIDATION: 0.2}
"""Splits that are synthesised, and the number of clips of each as a share of the configured number."""
_WITHOUT_RECORDINGS = {Kind.POSITIVE: 3_000, Kind.NEAR_NEGATIVE: 3_000, Kind.NEGATIVE: 5_000}
"""Numbers of clips if positives are neither recorded nor configured."""
_DISTINCT = 300
"""Different near negatives generated for training; for validation in proportion."""
_PHRASES_PER_TEXT = 6
_MAX_PAUSE = 0.2
_CLIPS_PER_PROCESS = 500
_SECONDS_BETWEEN_REPORTS = 60.0


def with_synthesised(config: TrainConfig, folders: DataFolders, root: Path, report: Report) -> DataFolders:
    """``folders`` and the clips that ``config.synthesis`` asks for, made once for each set of settings under ``root``:
    those of fast engines and, in separate folders, those of ``config.synthesis.natural``.

    If no recordings of the keyword are given and no positives configured, the keyword, texts that sound like it and other
    words are all synthesised. Except for the keyword, no voice or text is used for both training and validation, and
    those kept for the test are not used at all. Raises ``DataError`` if a folder is missing.
    """
    plan = config.synthesis
    counts = {kind: int(getattr(plan, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    natural = {kind: int(getattr(plan.natural, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    if not counts[Kind.POSITIVE] and not natural[Kind.POSITIVE] and not _has_recordings(config, folders):
        counts = {kind: counts[kind] or number for kind, number in _WITHOUT_RECORDINGS.items()}
        _check_pronounceable(config)
        report(f"no recordings of {config.keyword!r} are given: training on synthetic voices alone")
    passes = [
        _Pass("", counts, plan.engines, _voices(plan.engines) if any(counts.values()) else {}),
        _Pass(
            "natural-", natural, plan.natural.engines, _voices(plan.natural.engines) if any(natural.values()) else {}
        ),
    ]
    added: dict[Kind, list[Path]] = {kind: [] for kind in _WITHOUT_RECORDINGS}
    for one in passes:
        for kind in added:
            added[kind] += _synthesised(kind, one, config, root, report)
    return dataclasses.replace(
        folders,
        positives=(*folders.positives, *added[Kind.POSITIVE]),
        near_negatives=(*folders.near_negatives, *added[Kind.NEAR_NEGATIVE]),
        negatives=(*folders.negatives, *added[Kind.NEGATIVE]),
    )


@dataclasses.dataclass(frozen=True)
class _Pass:
    """The clips that the fast engines make, or the natural ones."""

    prefix: str
    """Prefix of its folders' names."""
    counts: dict[Kind, int]
    """Clips of each kind for training."""
    engines: tuple[str, ...]
    voices: dict[Split, list[Voice]]


def _synthesised(kind: Kind, one: _Pass, config: TrainConfig, root: Path, report: Report) -> list[Path]:
    """The folders of a kind of clips, one for each split; none if no clips are asked for."""
    if not one.counts[kind]:
        return []
    texts = _texts(config, kind, one.voices, report)
    different = " and ".join(f"{len(texts[split])} for {split}" for split in _SHARES)
    engines = f" with {', '.join(one.engines)}" if one.prefix else ""
    report(f"synthesising {one.counts[kind]} {kind.plural.replace('_', ' ')} from texts ({different}){engines}")
    return [
        _synthesise(
            root, _Settings(kind, split, texts[split], max(1, round(one.counts[kind] * share))), one, config, report
        )
        for split, share in _SHARES.items()
    ]


def _check_pronounceable(config: TrainConfig) -> None:
    """Refuse a keyword that English voices cannot say before thousands of clips of it are tried."""
    if not any(engine.startswith("command:") for engine in config.synthesis.engines):
        pronunciations(config.keyword)


def _has_recordings(config: TrainConfig, folders: DataFolders) -> bool:
    words = folders.speech_commands
    named = [*folders.positives, *folders.negatives, *folders.near_negatives, *folders.background, *folders.noise]
    for folder in [words, *named] if words else named:
        if not folder.is_dir():
            raise DataError(f"{folder}: expected a folder of recordings, found none")
    of_words = words.iterdir() if words else ()
    return bool(folders.positives) or any(folder.name.casefold() == config.keyword.casefold() for folder in of_words)


def _voices(engines: tuple[str, ...]) -> dict[Split, list[Voice]]:
    voices = {split: english_voices(split, engines=engines) for split in _SHARES}
    for split, found in voices.items():
        if not found:
            raise ConfigError(f"expected voices of the split {split}, but {', '.join(engines)} has none; add an engine")
    return voices


def _texts(config: TrainConfig, kind: Kind, voices: dict[Split, list[Voice]], report: Report) -> Texts:
    """The texts of each split for a kind of clips."""
    plan = config.synthesis
    if kind is Kind.POSITIVE:
        return {split: {config.keyword: 0.0} for split in _SHARES}
    if kind is Kind.NEAR_NEGATIVE and not plan.near_negative_texts:
        return _generated(config, voices)
    name = plan.near_negative_texts if kind is Kind.NEAR_NEGATIVE else plan.negative_texts
    return _listed(config, _phrases(name), report, phrases=kind is Kind.NEGATIVE)


def _generated(config: TrainConfig, voices: dict[Split, list[Voice]]) -> Texts:
    pool = confusables(config.keyword)
    texts: Texts = {}
    for split, share in _SHARES.items():
        chosen = choose(speakable(pool, voices[split]), round(_DISTINCT * share), split=split)
        texts[split] = {candidate.text: candidate.distance for candidate in chosen}
    return texts


def _listed(config: TrainConfig, path: Path, report: Report, *, phrases: bool) -> Texts:
    """The texts of a list that do not sound like the keyword; with ``phrases`` also running speech made of them."""
    listed = without_sound_of(config.keyword, read_texts(path))
    by_split = split_texts(config.keyword, listed)
    if len(by_split[Split.TRAIN]) + len(by_split[Split.VALIDATION]) < 2:
        raise ConfigError(
            f"{path}: expected two or more texts other than {config.keyword!r} that are not kept for the test, "
            f"got {listed[:5]}; write more"
        )
    if not by_split[Split.TRAIN]:
        by_split[Split.TRAIN].append(by_split[Split.VALIDATION].pop())
    if not by_split[Split.VALIDATION]:
        by_split[Split.VALIDATION].append(by_split[Split.TRAIN].pop())
    if by_split[Split.TEST]:
        report(f"{path.name}: {len(by_split[Split.TEST])} of {len(listed)} texts are kept for the test")
    texts: Texts = {}
    for split in _SHARES:
        chosen = by_split[split]
        if phrases:
            running = spoken_phrases(chosen, count=len(chosen) * _PHRASES_PER_TEXT, seed=config.seed)
            chosen = [*chosen, *without_sound_of(config.keyword, running)]
        texts[split] = dict.fromkeys(chosen)
    return texts


@dataclasses.dataclass(frozen=True)
class _Settings:
    """The settings of one folder of clips."""

    kind: Kind
    split: Split
    texts: dict[str, float | None]
    count: int


def _synthesise(root: Path, clips: _Settings, one: _Pass, config: TrainConfig, report: Report) -> Path:
    """A folder with these clips. Its name identifies the settings, and it exists only if it is complete."""
    voices = [voice.name for voice in one.voices[clips.split]]
    identity = json.dumps([clips.texts, clips.count, config.seed, one.engines, voices, __version__])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    folder = root / f"{one.prefix}{clips.kind.plural}-{clips.split}-{digest}"
    if folder.is_dir():
        report(f"using the clips of the same settings in {folder}")
        return folder

    def skipped(recipe: Recipe, error: SynthesisError) -> None:
        report(f"left out {recipe.text!r} by {recipe.voice.name}: {error}")

    return synthesize(
        list(clips.texts),
        one.voices[clips.split],
        folder,
        count=clips.count,
        seed=config.seed,
        max_pause=_MAX_PAUSE,
        jobs=min(2, 1 + clips.count // _CLIPS_PER_PROCESS),
        progress=_minute_reports(f"{clips.kind.plural.replace('_', ' ')} for {clips.split}", clips.count, report),
        skipped=skipped,
        distances={text: distance for text, distance in clips.texts.items() if distance is not None},
    )


def _minute_reports(what: str, count: int, report: Report) -> Callable[[int], None]:
    """Reports progress once a minute, for slow engines; a fast one finishes earlier."""
    reported = time.monotonic()

    def progress(done: int) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _SECONDS_BETWEEN_REPORTS:
            reported = time.monotonic()
            report(f"{done} of {count} {what}")

    return progress


def _phrases(name: str) -> Path:
    """A list that ships with the package, or the user's own file."""
    return Path(name) if name.endswith(".txt") else assets_folder() / "phrases" / f"{name}.txt"
