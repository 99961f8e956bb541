"""The synthetic clips of ``wakeword train``: made once for each set of settings, by voices that say the word right."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from wakeword.audio.audio_listing import audio_files
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.events import Events
from wakeword.base.text import counted
from wakeword.base.version import __version__
from wakeword.batch.jobs.cluster import Cluster
from wakeword.batch.jobs.work import default_jobs
from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.clips.voice_check import voice_scores, without_voices
from wakeword_tools.engines.languages import ENGLISH, name_of_language
from wakeword_tools.engines.registry import INSTALLED, resolved_engines, voices_in
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import TrainConfig
from wakeword_train.spoken_texts import SHARES, SpokenKeyword
from wakeword_train.training_run import DataFolders, Phase, TrainingRun

_WITHOUT_RECORDINGS = {Kind.POSITIVE: 3_000, Kind.NEAR_NEGATIVE: 3_000, Kind.NEGATIVE: 5_000}
"""Numbers of clips if positives are neither recorded nor configured."""
_MAX_PAUSE = 0.2
_MAX_NATURAL = 4
"""Processes that speak with natural voices at most: each holds a large network."""
_COST, _NATURAL_COST = 3.0, 30.0
"""What a clip costs, as scanning so many seconds of audio does: a process is worth its start from 100 or 10 clips on."""


def with_synthesised(run: TrainingRun) -> TrainingRun:
    """The run with the clips that its ``config.synthesis`` asks for, made once for each set of settings in ``run.work``:
    clips of fast engines and, in separate folders, of ``config.synthesis.natural``.

    If no recordings of the keyword are given and no positives configured, the keyword, texts that sound like it and other
    words are all synthesised. Except for the keyword, no voice or text is used for both training and validation, and
    texts kept for the test are not used at all. Clips of the keyword by voices in which the phoneme network does not
    hear it are left out. ``run.events`` get the share that is made. As many processes of this machine speak as
    ``run.executor`` has workers for so many seconds of audio; the clips do not depend on it. Raises ``DataError`` if a
    folder is missing.
    """
    plan, folders = run.config.synthesis, run.folders
    counts = {kind: int(getattr(plan, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    natural = {kind: int(getattr(plan.natural, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    recorded = check_synthesis(run.config, folders)
    if not counts[Kind.POSITIVE] and not natural[Kind.POSITIVE] and not recorded:
        counts = {kind: counts[kind] or number for kind, number in _WITHOUT_RECORDINGS.items()}
    word = SpokenKeyword.of(run.config)
    # Both are made before either speaks, as voices that are missing end the run.
    passes = [
        _Speech(Phase.SPEECH, counts, plan.engines, word, run),
        _Speech(Phase.NATURAL, natural, plan.natural.engines, word, run),
    ]
    added: dict[Kind, list[Path]] = {kind: [] for kind in _WITHOUT_RECORDINGS}
    for speech in passes:
        for kind in added:
            added[kind] += speech.folders(kind)
    folders = dataclasses.replace(
        folders,
        positives=(*folders.positives, *added[Kind.POSITIVE]),
        near_negatives=(*folders.near_negatives, *added[Kind.NEAR_NEGATIVE]),
        negatives=(*folders.negatives, *added[Kind.NEGATIVE]),
    )
    return dataclasses.replace(run, folders=folders)


class _Speech(Events):
    """Makes the clips of the fast engines, or of the natural ones, and tells of each folder's as a part of them."""

    def __init__(
        self, phase: Phase, counts: dict[Kind, int], engines: tuple[str, ...], word: SpokenKeyword, run: TrainingRun
    ) -> None:
        """``counts``: clips of each kind for training. The engines of this machine stand in place of ``installed``."""
        usable = there = resolved_engines(engines, natural=phase is Phase.NATURAL)
        if INSTALLED in engines:
            usable = tuple(engine for engine in usable if voices_in(run.config.language, engines=[engine]))
        if any(counts.values()) and not usable:
            if there:  # the command says so where there are none at all
                run.events.note("no natural voice speaks this language, and the model will find fewer people")
            counts = dict.fromkeys(counts, 0)
        speak = any(counts.values())
        self._phase, self._counts, self._engines = phase, counts, usable
        self._voices = _voices(usable, run.config.language, required=INSTALLED not in engines) if speak else {}
        self._is_natural = phase is Phase.NATURAL
        self._prefix = "natural-" if self._is_natural else ""
        self._word, self._run, self._events = word, run, run.events
        self._clips = sum(self._count(kind, split) for kind in counts for split in SHARES)
        self._made = self._making = 0

    def note(self, line: str) -> None:
        """Hand on the line."""
        self._events.note(line)

    def share(self, done: float) -> None:
        """Tell the share of the clips that is made."""
        made = self._made + done * self._making
        self._events.phase(self._phase, min(1.0, made / max(1, self._clips)))

    def folders(self, kind: Kind) -> list[Path]:
        """The folders of a kind of clips, one for each split; none if no clips are asked for."""
        if not self._counts[kind]:
            return []
        texts = self._word.texts(kind, self._voices, self._events)
        splits = [split for split in SHARES if self._voices[split]]
        different = " and ".join(f"{counted(len(texts[split]), 'text')} for {split}" for split in splits)
        names = ", ".join(engine.partition(":")[0] for engine in self._engines)
        engines = f" with {names}" if self._is_natural else ""
        number = counted(self._counts[kind], kind.value.replace("_", " "))
        self._events.note(f"synthesising {number}{engines}, from {different}")
        found = []
        for split in splits:
            folder = self._folder(kind, split, texts[split])
            if kind is Kind.POSITIVE and self._word.plan.check_voices:
                folder = _checked(folder, self._word, self._events)
            found.append(folder)
        return found

    def _count(self, kind: Kind, split: Split) -> int:
        """How many clips of a kind are made for a split."""
        asked = self._counts[kind]
        return max(1, round(asked * SHARES[split])) if asked and self._voices.get(split) else 0

    def _jobs(self, clips: int) -> int:
        """How many processes make so many clips."""
        seconds = clips * (_NATURAL_COST if self._is_natural else _COST)
        executor = self._run.executor(seconds)
        # The machines of a cluster need not have these voices.
        jobs = default_jobs(seconds) if isinstance(executor, Cluster) else executor.workers
        return min(jobs, _MAX_NATURAL) if self._is_natural else jobs

    def _folder(self, kind: Kind, split: Split, texts: Mapping[str, float | None]) -> Path:
        """A folder with clips of these texts. Its name identifies the settings, and it exists only if it is complete."""
        word, count = self._word, self._count(kind, split)
        voices = [voice.name for voice in self._voices[split]]
        children = word.plan.children if kind is Kind.POSITIVE else 0.0
        # Not the engines, which may name folders of this machine: the voices identify them.
        identity = json.dumps([texts, count, word.seed, voices, children, __version__])
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        folder = self._run.work / "synthesised" / f"{self._prefix}{kind.plural}-{split}-{digest}"
        self._made, self._making = self._made + self._making, count
        if folder.is_dir():
            self._events.note(f"using the clips of the same settings in {folder}")
            return folder
        distances = {text: distance for text, distance in texts.items() if distance is not None}
        part = ClipPart(
            list(texts), self._voices[split], count, word.seed, _MAX_PAUSE, children=children, distances=distances
        )
        # The folder's name identifies the clips, so that a run that was killed has the same.
        return synthesize([part], folder, jobs=self._jobs(count), resume=True, skip=True, events=self)


def check_synthesis(config: TrainConfig, folders: DataFolders) -> bool:
    """Refuse missing folders, and a keyword that no voices can say, before thousands of clips of it are tried.

    Returns whether there are recordings of the keyword. Raises ``DataError`` and ``SynthesisError``.
    """
    _require_folders(folders)
    keyword, plan, words = config.keyword.casefold(), config.synthesis, folders.speech_commands
    of_words = words.iterdir() if words else ()
    recorded = bool(folders.positives) or any(folder.name.casefold() == keyword for folder in of_words)
    spoken = bool(plan.positives or plan.natural.positives) or not recorded
    if spoken and not any(engine.startswith("command:") for engine in plan.engines):
        SpokenKeyword.of(config).require_spoken()
    return recorded


def _require_folders(folders: DataFolders) -> None:
    """Refuse a folder of recordings that does not exist or is empty, before any work.

    Raises ``DataError`` for one that is not there, ``AudioFileError`` for one without audio.
    """
    words = folders.speech_commands
    for folder in chain([words] if words else [], *folders.by_kind.values()):
        if not folder.is_dir():
            raise DataError(f"{folder}: expected a folder of recordings, found none; check the path")
    for root in chain(*folders.by_kind.values()):
        if not (root / MANIFEST).is_file():
            audio_files(root)


def _voices(engines: tuple[str, ...], language: str, *, required: bool) -> dict[Split, list[Voice]]:
    """The voices of each split; some split may have none unless they are ``required``."""
    voices = {split: voices_in(language, split, engines=engines) for split in SHARES}
    for split, of_split in voices.items():
        if not of_split and (required or split is Split.TRAIN):
            of = "" if language == ENGLISH else f" that speak {name_of_language(language)}"
            raise ConfigError(
                f"expected voices of the split {split}{of}, but {', '.join(engines)} has none; add an engine"
            )
    return voices


def _checked(folder: Path, word: SpokenKeyword, events: Events) -> Path:
    """The folder, or one with only its clips by voices that say the keyword."""
    checked = folder.with_name(f"{folder.name}-checked")
    if (checked / MANIFEST).is_file():
        return checked
    path = encoders_folder() / PHONEMES_FILE
    network = load_phonemes(path, file_digest(path))
    variants = word.variants(network.tokens)
    if not variants:
        return folder
    poor = [voice for voice in voice_scores(folder / MANIFEST, variants, network) if voice.left_out]
    if not poor:
        return folder
    names = ", ".join(f"{voice.voice} ({voice.clips})" for voice in poor[:3]) + (", ..." if len(poor) > 3 else "")
    clips = counted(sum(voice.clips for voice in poor), "clip")
    events.note(f"left out {clips} in which the word is not heard, of the voices {names}")
    return without_voices(folder, checked, frozenset(voice.voice for voice in poor))
