"""The synthetic clips of ``wakeword train``: made once for each set of settings, by voices that say the word right."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from wakeword.base.errors import ConfigError, DataError, SynthesisError
from wakeword.base.text import counted
from wakeword.base.version import __version__
from wakeword.batch.jobs.choice import in_this_process
from wakeword.batch.jobs.cluster import Cluster
from wakeword.batch.jobs.job_plan import default_jobs
from wakeword.batch.jobs.work import Executor
from wakeword.model.installed import assets_folder
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.clips.clip_plan import Recipe
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.clips.voice_check import voice_scores, without_voices
from wakeword_tools.engines.registry import INSTALLED, english_voices, resolved, takes_phonemes
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import require_audio
from wakeword_train.phases import Phase
from wakeword_train.spoken_texts import SHARES, accented_forms, keyword_variants, spoken_forms, texts_of
from wakeword_train.training_run import DataFolders, TrainingEvents

_WITHOUT_RECORDINGS = {Kind.POSITIVE: 3_000, Kind.NEAR_NEGATIVE: 3_000, Kind.NEGATIVE: 5_000}
"""Numbers of clips if positives are neither recorded nor configured."""
_MAX_PAUSE = 0.2
_MOST_NATURAL = 4
"""Processes that speak with natural voices at most: each holds a large network."""
_MOST_OF_AN_ACCENT = 40
"""Clips of one accent at most: a word with few accents has few such clips."""
_COST, _NATURAL_COST = 3.0, 30.0
"""What a clip costs, as scanning so many seconds of audio does: a process is worth its start from 100 or 10 clips on."""


def with_synthesised(
    config: TrainConfig,
    folders: DataFolders,
    root: Path,
    events: TrainingEvents,
    *,
    executor: Callable[[float], Executor] = in_this_process,
) -> DataFolders:
    """``folders`` and the clips that ``config.synthesis`` asks for, made once for each set of settings under ``root``:
    clips of fast engines and, in separate folders, of ``config.synthesis.natural``.

    If no recordings of the keyword are given and no positives configured, the keyword, texts that sound like it and other
    words are all synthesised. Except for the keyword, no voice or text is used for both training and validation, and
    texts kept for the test are not used at all. Clips of the keyword by voices in which the phoneme network does not
    hear it are left out. ``events`` gets the share of the clips that are made. As many processes of this machine speak as
    ``executor`` has workers for so many seconds of audio; the clips do not depend on it. Raises ``DataError`` if a
    folder is missing.
    """
    plan = config.synthesis
    counts = {kind: int(getattr(plan, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    natural = {kind: int(getattr(plan.natural, kind.plural)) for kind in _WITHOUT_RECORDINGS}
    recorded = check_synthesis(config, folders)
    if not counts[Kind.POSITIVE] and not natural[Kind.POSITIVE] and not recorded:
        counts = {kind: counts[kind] or number for kind, number in _WITHOUT_RECORDINGS.items()}
    if not recorded:
        events.note(f"no recordings of {config.keyword!r} are given: training on synthetic voices alone")
    passes = [
        _Pass.of(Phase.SPEECH, counts, plan.engines, events, executor).with_accents(config),
        _Pass.of(Phase.NATURAL, natural, plan.natural.engines, events, executor).with_accents(config),
    ]
    added: dict[Kind, list[Path]] = {kind: [] for kind in _WITHOUT_RECORDINGS}
    for one in passes:
        made = 0
        for kind in added:
            added[kind] += _synthesised(kind, one, config, root, events, _Done(one, made, events))
            made += one.clips(kind)
    return dataclasses.replace(
        folders,
        positives=(*folders.positives, *added[Kind.POSITIVE]),
        near_negatives=(*folders.near_negatives, *added[Kind.NEAR_NEGATIVE]),
        negatives=(*folders.negatives, *added[Kind.NEGATIVE]),
    )


@dataclasses.dataclass(frozen=True)
class _Pass:
    """The clips that the fast engines make, or the natural ones."""

    phase: Phase
    counts: dict[Kind, int]
    """Clips of each kind for training."""
    engines: tuple[str, ...]
    voices: dict[Split, list[Voice]]
    executor: Callable[[float], Executor]
    accents: tuple[str, ...] = ()
    """Ways to say the keyword with an accent."""
    accented: float = 0.0
    """Clips of these, in proportion to the other clips of the keyword."""

    @classmethod
    def of(
        cls,
        phase: Phase,
        counts: dict[Kind, int],
        engines: tuple[str, ...],
        events: TrainingEvents,
        executor: Callable[[float], Executor],
    ) -> "_Pass":
        """With the engines of this machine in place of ``installed``."""
        found = resolved(engines, natural=phase is Phase.NATURAL)
        if any(counts.values()) and not found:
            events.note(
                "no natural voices are installed, and the model will find fewer people: wakeword voices install kokoro"
            )
            counts = dict.fromkeys(counts, 0)
        voices = _voices(found, required=INSTALLED not in engines) if any(counts.values()) else {}
        return cls(phase, counts, found, voices, executor)

    def with_accents(self, config: TrainConfig) -> "_Pass":
        """With the accents that ``config`` asks for, if it speaks the keyword and a voice can say them."""
        if not self.counts[Kind.POSITIVE] or not any(self.able(split) for split in SHARES):
            return self
        return dataclasses.replace(self, accents=tuple(accented_forms(config)), accented=config.synthesis.accents)

    def able(self, split: Split) -> list[Voice]:
        """The voices that can say accents."""
        return [voice for voice in self.voices.get(split, ()) if takes_phonemes(voice)]

    @property
    def prefix(self) -> str:
        """Prefix of its folders' names."""
        return "natural-" if self.phase is Phase.NATURAL else ""

    def jobs(self, clips: int) -> int:
        """How many processes make so many clips."""
        seconds = clips * (_NATURAL_COST if self.phase is Phase.NATURAL else _COST)
        found = self.executor(seconds)
        # The machines of a cluster need not have these voices.
        jobs = default_jobs(seconds) if isinstance(found, Cluster) else found.workers
        return min(jobs, _MOST_NATURAL) if self.phase is Phase.NATURAL else jobs

    def clips(self, kind: Kind | None = None) -> int:
        """How many clips it makes, of one kind or of all."""
        kinds = self.counts if kind is None else (kind,)
        usual = sum(self.count(one, split) for one in kinds for split in SHARES)
        return usual + (sum(map(self.accented_count, SHARES)) if Kind.POSITIVE in kinds else 0)

    def count(self, kind: Kind, split: Split) -> int:
        """How many clips of a kind it makes for a split, without those with accents."""
        asked = self.counts[kind]
        return max(1, round(asked * SHARES[split])) if asked and self.voices.get(split) else 0

    def accented_count(self, split: Split) -> int:
        """How many clips with accents it makes for a split."""
        wanted = round(self.count(Kind.POSITIVE, split) * self.accented)
        return min(wanted, _MOST_OF_AN_ACCENT * len(self.accents)) if self.able(split) else 0


@dataclasses.dataclass
class _Done:
    """Counts the clips of a pass, and tells how many are made."""

    one: _Pass
    before: int
    events: TrainingEvents

    def __call__(self, done: int) -> None:
        self.events.phase(self.one.phase, min(1.0, (self.before + done) / max(1, self.one.clips())))


def _synthesised(
    kind: Kind, one: _Pass, config: TrainConfig, root: Path, events: TrainingEvents, done: "_Done"
) -> list[Path]:
    """The folders of a kind of clips, one for each split; none if no clips are asked for."""
    if not one.counts[kind]:
        return []
    texts = texts_of(kind, config, one.voices, events)
    splits = [split for split in SHARES if one.voices[split]]
    different = " and ".join(f"{len(texts[split])} for {split}" for split in splits)
    engines = f" with {', '.join(engine.partition(':')[0] for engine in one.engines)}" if one.prefix else ""
    events.note(
        f"synthesising {counted(one.counts[kind], kind.value.replace('_', ' '))} from texts ({different}){engines}"
    )
    found = []
    for split in splits:
        settings = _Settings(kind, split, texts[split], one.count(kind, split))
        spoken = folder = _synthesise(root, settings, one, config, events, done)
        done.before += settings.count
        if kind is Kind.POSITIVE and config.synthesis.check_voices:
            folder = _checked(spoken, config, events)
        found.append(folder)
        if kind is Kind.POSITIVE:
            unheard = _voices_in(spoken) - _voices_in(folder)
            found += _accented(split, unheard, one, config, root, events, done)
            done.before += one.accented_count(split)
    return found


def _accented(
    split: Split, unheard: set[str], one: _Pass, config: TrainConfig, root: Path, events: TrainingEvents, done: "_Done"
) -> list[Path]:
    """A folder of clips of the keyword with accents; none if none are asked for or possible.

    ``unheard``: the voices that were left out because the keyword is not heard in their speech.
    """
    able = [voice for voice in one.able(split) if voice.name not in unheard]
    wanted = one.accented_count(split)
    if not wanted or not able:
        return []
    events.note(f"synthesising {counted(wanted, 'positive')} in {counted(len(one.accents), 'accent')}")
    settings = _Settings(Kind.POSITIVE, split, dict.fromkeys(one.accents, 0.0), wanted, accented=True)
    return [_synthesise(root, settings, dataclasses.replace(one, voices={split: able}), config, events, done)]


def _voices_in(folder: Path) -> set[str]:
    """The voices of the clips in a folder."""
    return {str(row.content["voice"]) for row in read_manifest(folder / MANIFEST)}


def check_synthesis(config: TrainConfig, folders: DataFolders) -> bool:
    """Refuse missing folders, and a keyword that English voices cannot say, before thousands of clips of it are tried.

    Returns whether there are recordings of the keyword. Raises ``DataError`` and ``SynthesisError``.
    """
    require_folders(folders)
    recorded = _has_recordings(config, folders)
    spoken = bool(config.synthesis.positives or config.synthesis.natural.positives) or not recorded
    if spoken and not any(engine.startswith("command:") for engine in config.synthesis.engines):
        for form in spoken_forms(config):
            pronunciations(form)
    return recorded


def _has_recordings(config: TrainConfig, folders: DataFolders) -> bool:
    words = folders.speech_commands
    of_words = words.iterdir() if words else ()
    return bool(folders.positives) or any(folder.name.casefold() == config.keyword.casefold() for folder in of_words)


def require_folders(folders: DataFolders) -> None:
    """Raise ``DataError`` for a folder of recordings that does not exist or is empty, before any work."""
    words = folders.speech_commands
    for folder in chain([words] if words else [], *folders.by_kind.values()):
        if not folder.is_dir():
            raise DataError(f"{folder}: expected a folder of recordings, found none")
    for kind, roots in folders.by_kind.items():
        for root in roots:
            if not (root / MANIFEST).is_file():
                require_audio(root, kind)


def _voices(engines: tuple[str, ...], *, required: bool) -> dict[Split, list[Voice]]:
    """The voices of each split; some split may have none unless they are ``required``."""
    voices = {split: english_voices(split, engines=engines) for split in SHARES}
    for split, found in voices.items():
        if not found and (required or split is Split.TRAIN):
            raise ConfigError(f"expected voices of the split {split}, but {', '.join(engines)} has none; add an engine")
    return voices


@dataclasses.dataclass(frozen=True)
class _Settings:
    """The settings of one folder of clips."""

    kind: Kind
    split: Split
    texts: dict[str, float | None]
    count: int
    accented: bool = False


def _synthesise(
    root: Path, clips: _Settings, one: _Pass, config: TrainConfig, events: TrainingEvents, done: "_Done"
) -> Path:
    """A folder with these clips. Its name identifies the settings, and it exists only if it is complete."""
    voices = [voice.name for voice in one.voices[clips.split]]
    children = config.synthesis.children if clips.kind is Kind.POSITIVE else 0.0
    # Not the engines, which may name folders of this machine: the voices identify them.
    identity = json.dumps([clips.texts, clips.count, config.seed, voices, children, __version__])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    prefix = f"accented-{one.prefix}" if clips.accented else one.prefix
    folder = root / f"{prefix}{clips.kind.plural}-{clips.split}-{digest}"
    if folder.is_dir():
        events.note(f"using the clips of the same settings in {folder}")
        return folder

    def skipped(recipe: Recipe, error: SynthesisError) -> None:
        events.note(f"left out {recipe.text!r} by {recipe.voice.name}: {error}")

    return synthesize(
        list(clips.texts),
        one.voices[clips.split],
        folder,
        count=clips.count,
        seed=config.seed,
        max_pause=_MAX_PAUSE,
        jobs=one.jobs(clips.count),
        progress=done,
        skipped=skipped,
        distances={text: distance for text, distance in clips.texts.items() if distance is not None},
        children=children,
        # The folder's name identifies the clips, so that a run that was killed has the same.
        resume=True,
    )


def _checked(folder: Path, config: TrainConfig, events: TrainingEvents) -> Path:
    """The folder, or one with only its clips by voices that say the keyword."""
    checked = folder.with_name(f"{folder.name}-checked")
    if (checked / MANIFEST).is_file():
        return checked
    path = assets_folder() / "encoders" / PHONEMES_FILE
    network = load_phonemes(path, file_digest(path))
    variants = keyword_variants(config, network.tokens)
    if not variants:
        return folder
    poor = [one for one in voice_scores(folder / MANIFEST, variants, network) if one.left_out]
    if not poor:
        return folder
    names = ", ".join(f"{one.voice} ({one.clips})" for one in poor[:5]) + (", ..." if len(poor) > 5 else "")
    clips = counted(sum(one.clips for one in poor), "clip")
    events.note(f"left out {clips} in which the word is not heard, of the voices {names}")
    return without_voices(folder, checked, frozenset(one.voice for one in poor))
