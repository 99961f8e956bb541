"""Trains the second stages of words anew, on cached embeddings, and measures them."""

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.model import read_model
from wakeword_experiments.figures_report import kept_rows, made_by, versions
from wakeword_experiments.two_stages.anyword import anyword_page, measure_anyword
from wakeword_experiments.two_stages.noisy_speech import measure_noisy_speech
from wakeword_experiments.two_stages.stage_folds_page import RECORD_PREFIX
from wakeword_experiments.two_stages.two_stages_measure import TestClips, measure_word
from wakeword_experiments.two_stages.two_stages_page import accuracy_page, stages_page
from wakeword_experiments.two_stages.unheard import Trial, measure_trial, unheard_page
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_train.config import read_config
from wakeword_train.pipeline import EMBEDDINGS, train_stand_ins
from wakeword_train.second_stage.build import SecondStageTraining
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun


@dataclass(frozen=True)
class Sources:
    """Where the recordings of the recipes are."""

    audio: Path
    """The folder that ``WAKEWORD_DATA`` names."""
    voices: Path
    """The wake words by voice, as the command ``voices`` links them."""
    clips: Path
    """Synthesised clips: ``said-WORD``, ``close-WORD``, the same with ``-kokoro`` where there are some, and ``other``."""
    background: tuple[Path, ...] = ()
    """In place of the background in ``audio``."""

    def folders(self, word: str) -> DataFolders:
        """The folders that the word's recipe names."""
        wake_words = sorted(folder.name for folder in self.voices.iterdir())
        own = [self.clips / f"{kind}-{word}{engine}" for kind in ("said", "close") for engine in ("", "-kokoro")]
        own = [folder for folder in own if folder.is_dir()]
        said, close = ([folder for folder in own if folder.name.startswith(kind)] for kind in ("said", "close"))
        return DataFolders(
            self.audio / "speech_commands",
            [*(self.voices / name for name in wake_words if name == word), *said],
            [*(self.voices / name for name in wake_words if name != word), self.clips / "other"],
            close,
            list(self.background) or [self.audio / "varied_speech", self.audio / "long_speech"],
            [self.audio / "noise", self.audio / "noise_house"],
        )


def measure_words(
    models: Sequence[Path],
    recipes: Path,
    sources: Sources,
    work: Path,
    figures: Path,
    page: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Measure model files of two stages that the recipes trained, and write the figures and the page.

    The evidence behind a model's thresholds is made again, from its first stage, the embeddings in ``work``, and
    the stand-ins that the recipe asks for, which are trained there.
    """
    words, speakers = [], set[str]()
    for path in models:
        config = read_config(recipes / f"{path.stem}.toml")
        folders = sources.folders(path.stem)
        clips = gather_clips(config, folders)
        events = TrainingEvents(report)
        run = TrainingRun(config, folders, work / path.stem, work / EMBEDDINGS, events=events)
        training = SecondStageTraining(run, path, clips, train_stand_ins(run))
        result = training.run()
        card = _card(path)
        shipped = {name: getattr(card, name) for name in ("fusion", "gate", "phonemes", "phonemes_digest")}
        result = dataclasses.replace(result, card=dataclasses.replace(result.card, **shipped))
        word = measure_word(path, result, clips, report)
        mixer = NoiseMixer(TestClips.of(clips).noise, warn=report)
        threshold = read_model(path).card.point().threshold
        word["noisy_speech"] = measure_noisy_speech(training, result, mixer, threshold)
        words.append(word)
        speakers |= {clip.speaker for clip in result.held_out.clips.get(Kind.BACKGROUND, ())}
    record: dict[str, Any] = {
        **made_by(command),
        "speakers": len(speakers),
        "words": words,
    }
    write_json(figures, record)
    write_page(figures, page)


def write_page(figures: Path, page: Path) -> None:
    """Write the page for users, and the longer one next to the figures, from what ``measure_words`` wrote."""
    record = json.loads(figures.read_text(encoding="utf-8"))
    folds = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(figures.parent.glob(f"{RECORD_PREFIX}*.json"))
    ]
    for path, text in (
        (page, accuracy_page(record, figures=figures.stem, folds=folds)),
        (figures.with_suffix(".md"), stages_page(record, figures=figures.name, folds=folds)),
    ):
        write_whole(path, text.encode())


def _card(path: Path) -> VerifierCard:
    card = read_model(path).card.verifier
    if card is None:
        raise ConfigError(f"{path}: expected a model of two stages, got one of one stage; train it with its recipe")
    return card


def measure_unheard(
    words: Sequence[str],
    recipe: Path,
    sources: Sources,
    work: Path,
    figures: Path,
    *,
    recorded: bool,
    takes: int,
    speech: Sequence[Path],
    command: str,
    report: Line,
) -> None:
    """Train and measure words as ``Trial`` describes; the figures and their page are written after each word."""
    for word in words:
        config = dataclasses.replace(read_config(recipe), keyword=word, hold_out_recorded=not recorded)
        if takes and config.background_folds:
            raise ConfigError(
                f"{recipe}: expected no background_folds with --takes, got {config.background_folds}: enrolment chooses "
                "thresholds on background that the first stage has not heard"
            )
        trial = Trial(config, sources.folders(word), speech, takes)
        content = [word, str(recorded), *(str(folder) for folder in trial.folders.background)]
        name = hashlib.sha256("|".join(content).encode()).hexdigest()[:12]
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        measured = {"command": command, "date": date, **measure_trial(trial, work / f"{word}-{name}", report)}
        trials = kept_rows(figures, "trials")
        same = ("keyword", "recorded", "background")
        kept = [one for one in trials if any(one[key] != measured[key] for key in same)]
        write_json(figures, {"versions": versions(), "trials": [*kept, measured]})
        write_whole(figures.with_suffix(".md"), unheard_page([*kept, measured], figures=figures.name).encode())


def measure_any_words(
    words: Sequence[str],
    audio: Path,
    speech: Sequence[Path],
    others: Sequence[Path],
    work: Path,
    figures: Path,
    *,
    takes: int,
    language: str,
    command: str,
    report: Line,
) -> None:
    """Train and measure words as ``measure_anyword`` does; the figures and their page are written after each word."""
    for word in words:
        measured = measure_anyword(word, audio, speech, others, work, takes=takes, language=language, report=report)
        known = kept_rows(figures, "words")
        record = {
            **made_by(command),
            "words": [*(one for one in known if one["keyword"] != measured["keyword"]), measured],
        }
        write_json(figures, record)
        write_whole(figures.with_suffix(".md"), anyword_page(record, figures=figures.name).encode())
