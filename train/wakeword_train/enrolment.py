"""What ``wakeword train --from`` does: fine-tune a model on its owner's takes, and choose new thresholds for it."""

import dataclasses
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from wakeword.audio.audio_folders import audio_files
from wakeword.audio.pcm import AudioFile
from wakeword.base.errors import AudioError, ConfigError, ModelError
from wakeword.batch.jobs.choice import in_this_process
from wakeword.batch.jobs.work import Executor
from wakeword.model.installed import model_file
from wakeword.model.model import read_model
from wakeword_train.config import TrainConfig
from wakeword_train.enrol import EnrolConfig, Enrolment, enrol, own_takes
from wakeword_train.enrolled_points import enrolled_points
from wakeword_train.phases import Phase
from wakeword_train.placement import check_target, file_stem, put_into_place
from wakeword_train.spoken_texts import SHARES
from wakeword_train.synthesis import with_synthesised
from wakeword_train.time_left import expected_enrolment
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun

log = logging.getLogger(__name__)

_NEAR_NEGATIVES, _NEGATIVES = 600, 900
"""Synthesised clips if the configuration asks for none: a model must be trained on something other than the word."""


def base_model(name: Path | str) -> Path:
    """The file of an included or installed model, by its keyword, or of any other. ``ConfigError`` if there is none."""
    try:
        path = model_file(name)
    except ModelError as error:
        raise ConfigError(f"expected a model to begin with: {error}") from error
    if not path.is_file():
        raise ConfigError(f"expected a model file to begin with, found no {path}; check the path or give a keyword")
    return path


def enrol_model(
    config: TrainConfig,
    base: Path | str,
    folders: DataFolders,
    out: Path | str,
    *,
    work: Path | str = "runs",
    events: TrainingEvents | None = None,
    executor: Callable[[float], Executor] = in_this_process,
) -> Enrolment:
    """Fine-tune a model on one person's takes, as ``wakeword train --from`` does, and write it, calibrated, to ``out``.

    ::

        folders = DataFolders(positives=[Path("takes")], negatives=[Path("other_words")])
        enrol_model(TrainConfig(keyword="marvin"), "marvin", folders, "my_marvin.onnx")

    ``base`` is a shipped model, by its keyword, or a file; ``folders.positives`` hold the takes. Clips to stay silent for
    are synthesised as configured, into the keyword's folder in ``work``. ``events`` gets phases, and
    a line for each step and each warning; without ``events`` the lines are logged. ``executor`` as
    for ``train_model``; only speaking uses it.

    Raises ``ConfigError`` for a model of another keyword or one that cannot be fine-tuned, ``ModelError`` for a file that
    is not a model and ``DataError`` for too few takes.
    """
    out, events = Path(out), events or TrainingEvents()
    base = base_model(base)
    check_target(out)
    phrase = read_model(base).card.phrase
    if config.keyword.casefold() != phrase.casefold():
        raise ConfigError(f"{base} is a model of {phrase!r}; to train {config.keyword!r}, leave out --from")
    own = Path(work) / file_stem(config.keyword)
    takes = own_takes(folders.positives, phrase)
    events.begin(folders)
    run = TrainingRun(_with_synthesis(config), folders, own, own, events=events, executor=executor)
    others = with_synthesised(run).folders
    others = dataclasses.replace(others, positives=others.positives[len(folders.positives) :])
    settings = EnrolConfig(seed=config.seed, augmentation=config.augmentation)
    enrolment = enrol(base, takes, others, own / "enrolled.onnx", config=settings, events=events)
    if not folders.negatives:
        events.note(
            "warning: without --negatives the thresholds for false positives are based on synthesised words alone; real "
            "speech may fire several times as often"
        )
    models = 2 + len(enrolment.folds)
    events.note(
        "measuring on the held-out clips"
        + (f" and on the background, which {models} models hear" if folders.background else "")
    )
    put_into_place(enrolment.path, enrolled_points(base, enrolment, events), out, events)
    events.phase(Phase.MEASURING, 1.0)
    return dataclasses.replace(enrolment, path=out)


def seconds_of_enrolment(
    config: TrainConfig, folders: DataFolders, *, busy: float | None = None, workers: int | None = None
) -> dict[Phase, float]:
    """A guess of the seconds of each phase of ``enrol_model``; ``busy`` and ``workers`` as in ``expected_seconds``."""
    plan = _with_synthesis(config).synthesis
    talk = sum(_seconds(path) for root in folders.background for path in audio_files(root))
    clips = (plan.positives + plan.near_negatives + plan.negatives) * sum(SHARES.values())
    return expected_enrolment(clips, talk, EnrolConfig(seed=config.seed), busy=busy, workers=workers)


def _seconds(path: Path) -> float:
    """The length that the header of a recording tells; none where it cannot be read."""
    with suppress(AudioError), AudioFile(path) as file:
        return file.seconds
    return 0.0


def _with_synthesis(config: TrainConfig) -> TrainConfig:
    plan = config.synthesis
    plan = dataclasses.replace(
        plan,
        near_negatives=plan.near_negatives or _NEAR_NEGATIVES,
        negatives=plan.negatives or _NEGATIVES,
    )
    return dataclasses.replace(config, synthesis=plan)
