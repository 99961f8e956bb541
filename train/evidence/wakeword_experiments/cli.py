"""``python -m wakeword_experiments``: one command for each experiment, its options and one call.

Each command imports its experiment when it is called: torch, scikit-learn and matplotlib take seconds to load, which
``--help`` must not, and only some of the experiments need scikit-learn.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import WakewordError
from wakeword.base.text import printable
from wakeword_experiments.invocation import begin, command_line, report_progress
from wakeword_experiments.one_class import one_class_commands as one_class
from wakeword_experiments.picovoice.picovoice_command import picovoice
from wakeword_experiments.sweep.sweep_command import sweep
from wakeword_experiments.ten_words.ten_words_commands import ten_words, ten_words_settings
from wakeword_experiments.two_stages.two_stages_commands import (
    anyword,
    close_words,
    collections,
    dictionary_words,
    exports,
    fold_cards,
    languages,
    peers,
    recognisers,
    stage_folds,
    two_stages,
    unheard,
)
from wakeword_experiments.two_stages.typed_command import text_alone, typed, words_of_languages

app = typer.Typer(
    name="wakeword_experiments",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Repeats the experiments in train/evidence/results: figures of every seed as JSON, a page of tables, a picture.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_ONE_CLASS = (
    one_class.sphere,
    one_class.sine,
    one_class.noisy_sine,
    one_class.half_zeros,
    one_class.tabular,
    one_class.one_class_audio,
    one_class.paper,
)
for one in _ONE_CLASS:
    app.command()(one)

Seeds = Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, counted from 0.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
_OUT = Path("train/evidence/results")

Data = Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")]
Work = Annotated[Path, typer.Option("--work", help="For synthesised clips and finished runs; a later call continues.")]


@app.command()
def adversary_health(
    audio: Annotated[Path, typer.Option("--audio", help="Folder with wake_words/WORD and speech_commands/WORD.")],
    model: Annotated[
        list[Path] | None, typer.Option("--model", help="Model file; repeatable. Default: the included models.")
    ] = None,
    recordings: Annotated[int, typer.Option("--recordings", min=2, help="Recordings of a word, at most.")] = 64,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the starting points.")] = 0,
    out: Out = _OUT,
) -> None:
    """What the adversary finds around recordings of finished models' words, by its own steps and by finer ones."""
    from wakeword.model.installed import assets_folder
    from wakeword_experiments.adversary_health import measure_health, write_health

    begin(1)
    models = model or sorted((assets_folder() / "models").glob("*.onnx"))
    rows = measure_health(models, audio, recordings=recordings, seed=seed, report=report_progress)
    write_health(out, rows, recordings=recordings, seed=seed, command=command_line())


@app.command()
def voices(
    root: Annotated[Path, typer.Argument(help="Picovoice's wake words: a folder for each word.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder for the links.")],
) -> None:
    """Link recordings without names under names of their voices, so that training deals them by voice."""
    from wakeword_experiments.unheard_voices import link_by_voice

    report_progress(f"{link_by_voice(root, out)} voices")


@app.command()
def playback(
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    count: Annotated[int, typer.Option("--count", min=2, help="Recordings of each word.")] = 20,
    minutes: Annotated[float, typer.Option("--minutes", min=1, help="Playback of each kind without the words.")] = 15,
    out: Out = _OUT,
) -> None:
    """What a detector finds above its own loudspeaker, with and without what the loudspeaker gets."""
    from wakeword_experiments.playback.playback_run import run_playback

    run_playback(audio, out, count=count, minutes=minutes, command=command_line(), report=report_progress)


@app.command()
def playback_hour(
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    minutes: Annotated[float, typer.Option("--minutes", min=1, help="How long it listens.")] = 60,
    out: Out = _OUT,
) -> None:
    """An hour of `listen --playback monitor` in real time, between two virtual devices of PulseAudio."""
    from wakeword_experiments.playback.playback_hour import run_playback_hour

    run_playback_hour(audio, out, minutes=minutes, command=command_line(), report=report_progress)


@app.command()
def kept_sounds(
    names: Annotated[Path, typer.Option("--names", help="Clips of the name Marlin, which `wakeword synth` made.")],
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    seed: Annotated[int, typer.Option("--seed", help="Draws the voices of the house.")] = 0,
    work: Work = Path("runs/kept-sounds"),
    out: Out = _OUT,
) -> None:
    """What a model unlearns that is fine-tuned on the false wakes that a house kept."""
    from wakeword_experiments.kept_sounds import run_kept_sounds

    run_kept_sounds(names, audio, work, out, seed=seed, command=command_line(), report=report_progress)


@app.command()
def voice_groups(data: Data, seeds: Seeds = 10, out: Out = _OUT) -> None:
    """How well recordings are grouped by speaker, where the speakers are known; each seed draws other people."""
    from wakeword_experiments.voice_groups import voice_groups_page

    voice_groups_page(out, data, begin(seeds), command=command_line(), report=report_progress)


for other in (
    ten_words,
    ten_words_settings,
    two_stages,
    unheard,
    peers,
    picovoice,
    anyword,
    text_alone,
    typed,
    words_of_languages,
    languages,
    close_words,
    collections,
    dictionary_words,
    exports,
    recognisers,
    stage_folds,
    fold_cards,
    sweep,
):
    app.command()(other)


def main() -> None:
    """Run the command line; a known error is one line on stderr and exit status 1."""
    try:
        app()
    except ModuleNotFoundError as error:
        print(
            f"wakeword_experiments: expected the packages of training, found no {error.name}; install torch first, then: "
            "pip install '.[train]'",
            file=sys.stderr,
        )
        sys.exit(1)
    except (WakewordError, OSError) as error:
        print(f"wakeword_experiments: {printable(error)}", file=sys.stderr)
        sys.exit(1)
