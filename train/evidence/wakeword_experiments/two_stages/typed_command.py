"""The commands of the experiment with words from their text."""

import json
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.files import write_json
from wakeword.cli.ranges import option
from wakeword_experiments.invocation import begin, command_line, report_progress


def typed(
    word: Annotated[list[str], option("--word", "A keyword; repeatable.")],
    audio: Annotated[Path, option("--audio", "The folder of recordings that WAKEWORD_DATA names.")],
    speech: Annotated[list[Path], option("--speech", "Long recordings to count false accepts in; repeatable.")],
    other: Annotated[list[Path] | None, option("--other", "Music, noise; repeatable.")] = None,
    language: Annotated[str, option("--language", "Of the words; give these as FOLDER=TEXT.")] = "en",
    work: Annotated[Path, option("--work", "For models.")] = Path("runs/typed"),
    figures: Annotated[Path, option("--figures", "Earlier figures there are kept.")] = Path(
        "train/evidence/results/typed.json"
    ),
) -> None:
    """What `wakeword train WORD --now` finds of people, without training."""
    from wakeword_experiments.two_stages.typed_words import measure_typed

    begin(1)
    measure_typed(
        word,
        audio,
        speech,
        other or [],
        work,
        figures,
        language=language,
        command=command_line(),
        report=report_progress,
    )


def words_of_languages(
    language: Annotated[list[str], option("--language", "A language's code; repeatable.")],
    recordings: Annotated[Path, option("--recordings", "A folder of CODE/TEXT/SPEAKER_name.flac.")],
    audio: Annotated[Path, option("--audio", "The folder of recordings that WAKEWORD_DATA names.")],
    speech: Annotated[list[Path], option("--speech", "Long recordings to count false accepts in; repeatable.")],
    words: Annotated[int, typer.Option("--words", min=1, help="Of each language.")] = 25,
    work: Annotated[Path, option("--work", "For models.")] = Path("runs/languages"),
    figures: Annotated[Path, option("--figures", "Earlier figures there are kept.")] = Path(
        "train/evidence/results/typed-countries.json"
    ),
) -> None:
    """What words of many languages find from their text."""
    from wakeword_experiments.two_stages.words_of_languages import measure_languages

    begin(1)
    folders = {"words": recordings, "noise": audio / "noise", "rooms": audio / "rooms"}
    measure_languages(language, words, folders, speech, work, figures, command=command_line(), report=report_progress)


def text_alone(
    results: Annotated[Path, option("--results", "The folder of the records.")] = Path("train/evidence/results"),
    out: Annotated[Path, option("--out", "The file that ships; its weights are kept.")] = Path(
        "assets/text-alone.json"
    ),
    record: Annotated[str, option("--typed", "The record of words from their text.")] = "typed",
    trained: Annotated[str, option("--trained", "The record of words that were trained.")] = "anyword",
) -> None:
    """What words with recordings say of words without: the numbers that ship, and the page of their ranges."""
    from wakeword_experiments.two_stages.people_range import range_page, text_alone_content

    begin(1)
    anyword, typed = (json.loads((results / f"{name}.json").read_text("utf-8")) for name in (trained, record))
    weights = json.loads(out.read_text("utf-8"))["weights"]
    write_json(out, text_alone_content(anyword, typed, weights))
    (results / f"people-range{record.removeprefix('typed')}.md").write_text(
        range_page(anyword, typed, weights), encoding="utf-8"
    )
