"""``python -m wakeword_experiments``: one command for each experiment, its options and one call.

Each command imports its experiment when it is called: torch, scikit-learn and matplotlib take seconds to load, which
``--help`` must not, and only some of the experiments need scikit-learn.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from wakeword.errors import WakewordError
from wakeword.escaping import printable

app = typer.Typer(
    name="wakeword_experiments",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Repeats the experiments in docs/results: figures of every seed as JSON, a page of tables, a picture.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Seeds = Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, counted from 0.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
_OUT = Path("docs/results")


@app.command()
def sphere(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """AUC of five one-class methods: positives on a sphere, anomalies on larger ones."""
    from wakeword_experiments.one_class import pages

    pages.sphere(out, _begin(seeds), _command(), report_progress)


@app.command()
def sine(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """AUC of five one-class methods on a displaced sine wave, and their decision boundaries."""
    from wakeword_experiments.one_class import pages

    pages.sine(out, _begin(seeds), _command(), report_progress)


@app.command()
def noisy_sine(seeds: Seeds = 5, out: Out = _OUT) -> None:
    """DROCC-LF, DROCC-OE, BCE and DROCC where eight of ten coordinates are noise."""
    from wakeword_experiments.one_class import pages

    pages.noisy(out, _begin(seeds), _command(), report_progress)


@app.command()
def half_zeros(
    seeds: Seeds = 5,
    out: Out = _OUT,
    mnist: Annotated[
        Path | None, typer.Option("--mnist", help="Folder of MNIST's IDX files; default: scikit-learn's digits.")
    ] = None,
) -> None:
    """Recall of the digit 0 at 3 % false positives on zeros with half of their pixels blanked."""
    from wakeword_experiments.one_class import pages

    pages.halves(out, _begin(seeds), _command(), report_progress, mnist=mnist)


@app.command()
def one_class_audio(
    data: Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")],
    keyword: Annotated[str, typer.Option("--keyword", help="Word to learn.")] = "stop",
    seeds: Seeds = 5,
    out: Out = _OUT,
) -> None:
    """AUC of one-class methods on one spoken word against all others."""
    from wakeword_experiments.one_class import pages

    pages.one_class_audio(out, _begin(seeds), _command(), report_progress, speech_commands=data, keyword=keyword)


Words = Annotated[str, typer.Option("--words", help="Keywords, separated by commas.")]
Data = Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")]
NoiseFolder = Annotated[Path | None, typer.Option("--noise", help="Sounds to mix in.")]
SplitName = Annotated[str, typer.Option("--split", help="published, or dealt for an excerpt of Speech Commands.")]
Work = Annotated[Path, typer.Option("--work", help="For synthesised clips and finished runs; a later call continues.")]
Processes = Annotated[int, typer.Option("--processes", min=1, help="Networks to train at a time.")]
HeldOut = Annotated[
    int, typer.Option("--held-out", help="Largest number of clips of each group in each of validation and test.")
]
Bank = Annotated[int, typer.Option("--bank", help="Augmented windows that a run draws its batches from.")]


@app.command()
def wake_words(
    data: Data,
    words: Words = "marvin,seven,forward,follow",
    noise: NoiseFolder = None,
    split: SplitName = "published",
    seeds: Seeds = 5,
    regimes: Annotated[str, typer.Option("--regimes", help="Any of paper, unseen and seen.")] = "paper,seen",
    further_seeds: Annotated[
        int | None, typer.Option("--further-seeds", min=1, help="Seeds of all regimes except the first, if fewer.")
    ] = None,
    held_out: HeldOut = 600,
    bank: Bank = 4_800,
    work: Work = Path("runs/wake-words"),
    processes: Processes = 2,
    out: Out = _OUT,
) -> None:
    """Recall at 3 and 5 % false positives of BCE, DeepSAD, DROCC-OE and DROCC-LF: the paper's protocol."""
    from wakeword_experiments.wake_words.runs import run_wake_words, source_of

    run_wake_words(
        source_of(data, noise, split, held_out, bank, work),
        words,
        regimes,
        seeds=_begin(seeds),
        further_seeds=_begin(further_seeds or seeds),
        processes=processes,
        out=out,
        command=_command(),
        report=report_progress,
    )


@app.command()
def ablations(
    data: Data,
    words: Words = "marvin,seven",
    noise: NoiseFolder = None,
    split: SplitName = "published",
    seeds: Seeds = 3,
    held_out: HeldOut = 600,
    bank: Bank = 4_800,
    work: Work = Path("runs/wake-words"),
    processes: Processes = 2,
    out: Out = _OUT,
) -> None:
    """The contribution of each part of DROCC-LF, from the settings that `wake-words` chose (or chooses now)."""
    from wakeword_experiments.wake_words.runs import run_ablations, source_of

    source = source_of(data, noise, split, held_out, bank, work)
    run_ablations(
        source, words, seeds=_begin(seeds), processes=processes, out=out, command=_command(), report=report_progress
    )


@app.command()
def cost(work: Work = Path("runs/cost"), out: Out = _OUT) -> None:
    """Milliseconds of each phase of a training run on this machine."""
    from wakeword_experiments.cost import measure_cost, write_cost

    write_cost(out, measure_cost(work), command=_command())


@app.command()
def accuracy(
    model: Annotated[
        list[Path] | None,
        typer.Option("--model", help="Model file; repeatable. Errors are listed for the first of each keyword."),
    ] = None,
    audio: Annotated[
        Path | None,
        typer.Option("--audio", help="Folder with speech_commands, wake_words/WORD, long_speech and noise."),
    ] = None,
    near_clips: Annotated[int, typer.Option("--near-clips", min=2, help="Close words in each split.")] = 600,
    report: Annotated[Path, typer.Option("--report", help="The page.")] = _OUT / "one-stage.md",
    figures: Annotated[Path, typer.Option("--json", help="The figures.")] = _OUT / "accuracy.json",
    seed: Annotated[int, typer.Option("--seed", help="Seed of close words and noise.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips.")] = Path("runs/accuracy"),
    cache: Annotated[Path | None, typer.Option("--cache", help="Folder for caching scores.")] = None,
) -> None:
    """Recall of model files, and of other engines' models, on the speakers that training held out.

    Without --model only the pages are written again, from the figures of an earlier call.
    """
    from wakeword_experiments.accuracy.runs import run_accuracy

    _begin(1)
    run_accuracy(
        model or [],
        audio,
        figures,
        report,
        near_clips=near_clips,
        seed=seed,
        work=work,
        cache=cache,
        command=_command(),
        report=report_progress,
    )


@app.command()
def folds(
    config: Annotated[Path, typer.Option("--config", help="The word's recipe (TOML).")],
    audio: Annotated[Path, typer.Option("--audio", help="As for accuracy.")],
    method: Annotated[list[str] | None, typer.Option("--method", help="Default: the recipe's; repeatable.")] = None,
    count: Annotated[int, typer.Option("--folds", min=2)] = 3,
    out: Annotated[Path, typer.Option("--out", help="Folder for the page and the figures.")] = _OUT,
    near_clips: Annotated[int, typer.Option("--near-clips", min=2, help="Close words in each split.")] = 600,
    seed: Annotated[int, typer.Option("--seed", help="Seed of close words and noise.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips and the models.")] = Path("runs/accuracy"),
    cache: Annotated[Path | None, typer.Option("--cache", help="Folder for caching scores.")] = None,
) -> None:
    """Recall of the recipe of a word with few speakers, by folds over them, for each method."""
    from wakeword_experiments.accuracy.measurement import Bench
    from wakeword_experiments.accuracy.runs import run_folds

    _begin(1)
    bench = Bench(audio, work, near_clips, seed, cache, report_progress)
    run_folds(config, method or [], count, bench, out, command=_command())


@app.command()
def two_stages(
    model: Annotated[
        list[Path], typer.Option("--model", help="A model of two stages, named as its recipe; repeatable.")
    ],
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    voices: Annotated[Path, typer.Option("--voices", help="The wake words by voice: see the command voices.")],
    clips: Annotated[Path, typer.Option("--clips", help="Synthesised clips: said-WORD, close-WORD, other, ....")],
    background: Annotated[
        list[Path] | None, typer.Option("--background", help="In place of the audio folder's.")
    ] = None,
    recipes: Annotated[Path, typer.Option("--recipes", help="The recipes.")] = Path("assets/configs"),
    work: Annotated[Path, typer.Option("--work", help="For embeddings.")] = Path("runs"),
    figures: Annotated[Path, typer.Option("--figures")] = Path("docs/results/two-stages.json"),
    page: Annotated[Path, typer.Option("--page")] = Path("docs/accuracy.md"),
) -> None:
    """People and false accepts of the included models of two stages, and what each part of them adds."""
    from wakeword_experiments.two_stages.run import Sources, measure_words

    _begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    measure_words(model, recipes, sources, work, figures, page, command=_command(), report=report_progress)


@app.command()
def unheard(
    word: Annotated[list[str], typer.Option("--word", help="A keyword; repeatable.")],
    recipe: Annotated[Path, typer.Option("--recipe", help="The recipe (TOML) of all words.")],
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    voices: Annotated[Path, typer.Option("--voices", help="The wake words by voice: see the command voices.")],
    clips: Annotated[Path, typer.Option("--clips", help="Synthesised clips: said-WORD, close-WORD, other, ....")],
    background: Annotated[
        list[Path] | None, typer.Option("--background", help="In place of the audio folder's.")
    ] = None,
    speech: Annotated[
        list[Path] | None, typer.Option("--speech", help="Unheard: false accepts are counted in it.")
    ] = None,
    recorded: Annotated[bool, typer.Option("--recorded", help="Train on recordings of the word too.")] = False,
    takes: Annotated[int, typer.Option("--takes", min=0, help="Recordings for fine-tuning afterwards.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For models and embeddings.")] = Path("runs/unheard"),
    figures: Annotated[Path, typer.Option("--figures", help="Earlier figures there are kept.")] = _OUT / "unheard.json",
) -> None:
    """Words, people and speech of whole collections that training heard nothing of."""
    from wakeword_experiments.two_stages.run import Sources, measure_unheard

    _begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    measure_unheard(
        word,
        recipe,
        sources,
        work,
        figures,
        recorded=recorded,
        takes=takes,
        speech=speech or [],
        command=_command(),
        report=report_progress,
    )


@app.command()
def voices(
    root: Annotated[Path, typer.Argument(help="Picovoice's wake words: a folder for each word.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder for the links.")],
) -> None:
    """Link recordings without names under names of their voices, so that training deals them by voice."""
    from wakeword_experiments.voices import link_by_voice

    report_progress(f"{link_by_voice(root, out)} voices")


def report_progress(line: str) -> None:
    """Print a line of progress to stderr."""
    print(line, file=sys.stderr, flush=True)


def _begin(seeds: int) -> list[int]:
    """The seeds. One thread: the networks are small, and times in the results are of one core."""
    import torch

    torch.set_num_threads(1)
    return list(range(seeds))


def _command() -> str:
    """The command line as given, for the record; of absolute paths only the last part."""
    arguments = [Path(argument).name if Path(argument).is_absolute() else argument for argument in sys.argv[1:]]
    return " ".join(["python -m wakeword_experiments", *arguments])


def main() -> None:
    """Run the command line; a known error is one line on stderr and exit status 1."""
    try:
        app()
    except ModuleNotFoundError as error:
        print(
            f"wakeword_experiments: expected the packages of training, found no {error.name}; install torch first, then: "
            "pip install 'wakeword[train]'",
            file=sys.stderr,
        )
        sys.exit(1)
    except (WakewordError, OSError) as error:
        print(f"wakeword_experiments: {printable(error)}", file=sys.stderr)
        sys.exit(1)
