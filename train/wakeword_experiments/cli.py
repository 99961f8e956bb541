"""``python -m wakeword_experiments``: one command for each experiment. Heavy imports sit inside the commands."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from wakeword.errors import ConfigError, WakewordError

if TYPE_CHECKING:
    from wakeword_experiments.wake_words.data import Regime
    from wakeword_experiments.wake_words.grid import Source

app = typer.Typer(
    name="wakeword_experiments",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Repeats the experiments of docs/results: figures of every seed as JSON, a page of tables, a picture.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Seeds = Annotated[int, typer.Option("--seeds", min=1, help="How many seeds, counted from 0.")]
Out = Annotated[Path, typer.Option("--out", help="Folder that the results are written to.")]
_OUT = Path("docs/results")


@app.command()
def sphere(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """AUC of five one-class methods: positives on a sphere, anomalies on larger ones."""
    from wakeword_experiments.one_class import pages

    pages.sphere(out, _begin(seeds), _command(), say)


@app.command()
def sine(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """AUC of five one-class methods on a displaced sine wave, and their decision boundaries."""
    from wakeword_experiments.one_class import pages

    pages.sine(out, _begin(seeds), _command(), say)


@app.command()
def noisy_sine(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """DROCC-LF, DROCC-OE, BCE and DROCC where eight of ten coordinates are noise."""
    from wakeword_experiments.one_class import pages

    pages.noisy(out, _begin(seeds), _command(), say)


@app.command()
def half_zeros(
    seeds: Seeds = 5,
    out: Out = _OUT,
    mnist: Annotated[
        Path | None, typer.Option("--mnist", help="Folder of MNIST's IDX files; without it, scikit-learn's digits.")
    ] = None,
) -> None:
    """Recall of the digit 0 at 3 % false positives on zeros with half of their pixels blanked."""
    from wakeword_experiments.one_class import pages

    pages.halves(out, _begin(seeds), _command(), say, mnist=mnist)


@app.command()
def one_class_audio(
    data: Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")],
    keyword: Annotated[str, typer.Option("--keyword", help="Word that is learned alone.")] = "stop",
    seeds: Seeds = 5,
    out: Out = _OUT,
) -> None:
    """AUC of one-class methods on one spoken word against all others."""
    from wakeword_experiments.one_class import pages

    pages.one_class_audio(out, _begin(seeds), _command(), say, speech_commands=data, keyword=keyword)


Words = Annotated[str, typer.Option("--words", help="Keywords, with commas between them.")]
Data = Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")]
NoiseFolder = Annotated[Path | None, typer.Option("--noise", help="Sounds to mix in.")]
Sides = Annotated[str, typer.Option("--split", help="published, or dealt for an excerpt of Speech Commands.")]
Work = Annotated[Path, typer.Option("--work", help="For synthesised clips and finished runs: a later call goes on.")]
Processes = Annotated[int, typer.Option("--processes", min=1, help="Networks that are trained at a time.")]
HeldOut = Annotated[int, typer.Option("--held-out", help="Most clips of each group for validation and test each.")]
Bank = Annotated[int, typer.Option("--bank", help="Augmented windows that a run draws its batches from.")]


@app.command()
def wake_words(
    data: Data,
    words: Words = "marvin,seven,forward,follow",
    noise: NoiseFolder = None,
    split: Sides = "published",
    seeds: Seeds = 5,
    regimes: Annotated[str, typer.Option("--regimes", help="Of paper, unseen and seen.")] = "paper,seen",
    further_seeds: Annotated[
        int | None, typer.Option("--further-seeds", min=1, help="Seeds of all regimes but the first, if fewer.")
    ] = None,
    held_out: HeldOut = 600,
    bank: Bank = 4_800,
    work: Work = Path("runs/wake-words"),
    processes: Processes = 2,
    out: Out = _OUT,
) -> None:
    """Recall at 3 and 5 % false positives of BCE, DeepSAD, DROCC-OE and DROCC-LF: the paper's protocol."""
    from wakeword_experiments.wake_words import study

    source = _source(data, noise, split, held_out, bank, work)
    keywords = _listed(words)
    chosen = study.tune(keywords, source, processes=processes, report=say)
    rows: list[dict[str, Any]] = []
    for number, regime in enumerate(_regimes(regimes)):
        of_regime = _begin(seeds if number == 0 or further_seeds is None else further_seeds)
        rows += study.compare(chosen, keywords, of_regime, regime, source, processes=processes, report=say)
    study.write_study(out, rows, chosen, source, command=_command())


@app.command()
def ablations(
    data: Data,
    words: Words = "marvin,seven",
    noise: NoiseFolder = None,
    split: Sides = "published",
    seeds: Seeds = 3,
    held_out: HeldOut = 600,
    bank: Bank = 4_800,
    work: Work = Path("runs/wake-words"),
    processes: Processes = 2,
    out: Out = _OUT,
) -> None:
    """What each part of DROCC-LF is worth, from the settings that `wake-words` chose (or chooses now)."""
    from wakeword_experiments.wake_words import study
    from wakeword_experiments.wake_words.ablations import ablation_jobs, variants, write_ablations
    from wakeword_experiments.wake_words.grid import run_grid

    source = _source(data, noise, split, held_out, bank, work)
    keywords = _listed(words)
    chosen = study.tune(keywords, source, processes=processes, report=say)
    changes = variants(chosen["drocc-lf"], chosen["bce"])
    jobs = ablation_jobs(changes, keywords, _begin(seeds), "paper")
    rows = run_grid(jobs, source, processes=processes, report=say)
    write_ablations(out, rows, changes, source, command=_command())


@app.command()
def cost(work: Work = Path("runs/cost"), out: Out = _OUT) -> None:
    """Milliseconds of each phase of a training run on this machine."""
    from wakeword_experiments.cost import measure_cost, write_cost

    write_cost(out, measure_cost(work), command=_command())


@app.command()
def accuracy(
    model: Annotated[
        list[Path] | None,
        typer.Option("--model", help="Model file, any number; the first of a keyword is looked at in detail."),
    ] = None,
    audio: Annotated[
        Path | None,
        typer.Option("--audio", help="Folder with speech_commands, wake_words/WORD, long_speech and noise."),
    ] = None,
    near_clips: Annotated[int, typer.Option("--near-clips", min=2, help="Close words on each side.")] = 600,
    report: Annotated[Path, typer.Option("--report", help="The page.")] = Path("docs/accuracy.md"),
    figures: Annotated[Path, typer.Option("--json", help="The figures.")] = _OUT / "accuracy.json",
    seed: Annotated[int, typer.Option("--seed", help="Of close words and noise.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips.")] = Path("runs/accuracy"),
    cache: Annotated[Path | None, typer.Option("--cache", help="Folder to keep scores in for a later call.")] = None,
) -> None:
    """Recall of model files, and of other engines' models, on the speakers that training kept aside.

    Without --model the page alone is written anew, from the figures of an earlier call.
    """
    from wakeword_experiments.accuracy.measurement import Bench, measure_accuracy, read_record, write_accuracy

    if not model:
        write_accuracy(read_record(figures), figures, report)
        return
    if audio is None:
        raise ConfigError("expected the folder of recordings to measure on, got none; give it with --audio")
    _begin(1)
    record = measure_accuracy(model, Bench(audio, work, near_clips, seed, cache, say))
    write_accuracy(record | {"command": _command()}, figures, report)


@app.command()
def folds(
    config: Annotated[Path, typer.Option("--config", help="The word's recipe (TOML).")],
    audio: Annotated[Path, typer.Option("--audio", help="As for accuracy.")],
    method: Annotated[list[str] | None, typer.Option("--method", help="Default: the recipe's; repeatable.")] = None,
    count: Annotated[int, typer.Option("--folds", min=2)] = 3,
    out: Annotated[Path, typer.Option("--out", help="Folder for the page and the figures.")] = _OUT,
    near_clips: Annotated[int, typer.Option("--near-clips", min=2, help="Close words on each side.")] = 600,
    seed: Annotated[int, typer.Option("--seed", help="Of close words and noise.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips and the models.")] = Path("runs/accuracy"),
    cache: Annotated[Path | None, typer.Option("--cache", help="Folder to keep scores in for a later call.")] = None,
) -> None:
    """Recall of a recipe of a word that few people have said, by folds over them; methods side by side."""
    import json

    from wakeword.files import replacing
    from wakeword_experiments.accuracy.folds import folds_page, measure_folds
    from wakeword_experiments.accuracy.measurement import Bench
    from wakeword_train.config import read_config

    _begin(1)
    settings = read_config(config)
    methods = list(dict.fromkeys(method or [settings.method]))
    record = measure_folds(settings, methods, count, Bench(audio, work, near_clips, seed, cache, say))
    name = f"folds-{'-'.join(settings.keyword.split())}"
    with replacing(out / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(record | {"command": _command()}, indent=1) + "\n", encoding="utf-8")
    with replacing(out / f"{name}.md") as temporary:
        temporary.write_text(folds_page(record, figures=f"{name}.json"), encoding="utf-8")


def _source(data: Path, noise: Path | None, split: str, held_out: int, bank: int, work: Path) -> "Source":
    from wakeword_experiments.wake_words.data import DataSizes
    from wakeword_experiments.wake_words.grid import Source

    if split not in ("published", "dealt"):
        raise ConfigError(f"expected --split published or dealt, got {split!r}")
    return Source(data, noise, split, DataSizes(held_out=held_out, bank=bank), work)


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _regimes(text: str) -> "list[Regime]":
    from wakeword_experiments.wake_words.data import Regime

    listed = _listed(text)
    if not listed or not set(listed) <= set(get_args(Regime)):
        raise ConfigError(f"expected --regimes among {', '.join(get_args(Regime))}, got {text!r}")
    return [regime for regime in get_args(Regime) if regime in listed]


def say(line: str) -> None:
    """Progress, on stderr."""
    print(line, file=sys.stderr, flush=True)


def _begin(seeds: int) -> list[int]:
    """The seeds. One thread: the networks are small, and times in the results are of one core."""
    import torch

    torch.set_num_threads(1)
    return list(range(seeds))


def _command() -> str:
    """The command line as it was given, for the record; of the paths only the last part."""
    arguments = [Path(argument).name if Path(argument).is_absolute() else argument for argument in sys.argv[1:]]
    return " ".join(["python -m wakeword_experiments", *arguments])


def main() -> None:
    """Run the command line; a known error is one line on stderr and exit status 1."""
    try:
        app()
    except (WakewordError, OSError) as error:
        print(f"wakeword_experiments: {error}", file=sys.stderr)
        sys.exit(1)
