"""The commands of these experiments: their options and one call each."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.ranges import option
from wakeword_experiments.invocation import begin, command_line, report_progress

_OUT = Path("train/evidence/results")
_Audio = Annotated[Path, option("--audio", "The folder of recordings that WAKEWORD_DATA names.")]
_Voices = Annotated[Path, option("--voices", "The wake words by voice: see the command voices.")]
_Clips = Annotated[Path, option("--clips", "Synthesised clips: said-WORD, close-WORD, other, ....")]
_Background = Annotated[list[Path] | None, option("--background", "In place of the audio folder's.")]
_Recipes = Annotated[Path, option("--recipes", "The recipes.")]
_Words = Annotated[list[str], option("--word", "A keyword; repeatable.")]


def two_stages(
    model: Annotated[list[Path], option("--model", "A model of two stages, named as its recipe; repeatable.")],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    recipes: _Recipes = Path("assets/configs"),
    work: Annotated[Path, option("--work", "For embeddings.")] = Path("runs"),
    figures: Annotated[Path, typer.Option("--figures")] = Path("train/evidence/results/two-stages.json"),
    page: Annotated[Path, typer.Option("--page")] = Path("docs/accuracy.md"),
) -> None:
    """People and false accepts of the included models of two stages, and what each part of them adds."""
    from wakeword_experiments.two_stages.two_stages_run import Sources, measure_words

    begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    measure_words(model, recipes, sources, work, figures, page, command=command_line(), report=report_progress)


def unheard(
    word: _Words,
    recipe: Annotated[Path, option("--recipe", "The recipe (TOML) of all words.")],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    speech: Annotated[list[Path] | None, option("--speech", "Unheard: false accepts are counted in it.")] = None,
    recorded: Annotated[bool, option("--recorded", "Train on recordings of the word too.")] = False,
    takes: Annotated[int, typer.Option("--takes", min=0, help="Recordings for fine-tuning afterwards.")] = 0,
    work: Annotated[Path, option("--work", "For models and embeddings.")] = Path("runs/unheard"),
    figures: Annotated[Path, option("--figures", "Earlier figures there are kept.")] = _OUT / "unheard.json",
) -> None:
    """Words, people and speech of whole collections that training heard nothing of."""
    from wakeword_experiments.two_stages.two_stages_run import Sources, measure_unheard

    begin(1)
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
        command=command_line(),
        report=report_progress,
    )


def stage_folds(
    recipe: Annotated[Path, option("--recipe", "The recipe (TOML) of a word of Speech Commands that few say.")],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    count: Annotated[int, typer.Option("--folds", min=2, help="Trainings; each tests other people.")] = 3,
    cut: Annotated[
        list[str] | None, option("--cut", "Part of the name of a recording that ends inside the word.")
    ] = None,
    work: Annotated[Path, option("--work", "For models and embeddings.")] = Path("runs/folds"),
    out: Annotated[Path, option("--out", "Folder for the results.")] = _OUT,
) -> None:
    """Recall of a recipe with both stages, by folds over the people who say the word."""
    from wakeword_experiments.two_stages.stage_folds import run_stage_folds
    from wakeword_experiments.two_stages.two_stages_run import Sources

    begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    run_stage_folds(recipe, sources, count, work, out, cut=cut or [], command=command_line(), report=report_progress)


def fold_cards(
    models: Annotated[Path, option("--models", "Folder of the included models.")] = Path("assets/models"),
    results: Annotated[Path, option("--results", "Folder of the records.")] = _OUT,
) -> None:
    """What the folds of words found, written onto the cards of their models."""
    from wakeword_experiments.two_stages.fold_cards import write_fold_cards

    for path in write_fold_cards(models, results):
        report_progress(f"wrote {path}")


def peers(
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    engine: Annotated[list[str] | None, option("--engine", "Default: all that run here.")] = None,
    recipe: Annotated[Path, option("--recipe", "Ours of the same word.")] = Path("assets/configs/alexa.toml"),
    figures: Annotated[Path, option("--figures", "Other engines there are kept.")] = _OUT / "peers.json",
) -> None:
    """Other engines' models of "alexa" on the people and in the speech of our models of two stages."""
    from wakeword_experiments.two_stages.peers import measure_peers
    from wakeword_experiments.two_stages.two_stages_run import Sources

    begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    measure_peers(
        recipe, sources.folders(recipe.stem), engine or [], figures, command=command_line(), report=report_progress
    )


def anyword(
    word: _Words,
    audio: _Audio,
    speech: Annotated[list[Path], option("--speech", "Long recordings to count false accepts in; repeatable.")],
    other: Annotated[list[Path] | None, option("--other", "Music, noise or other languages; repeatable.")] = None,
    takes: Annotated[int, typer.Option("--takes", min=0, help="Recordings to train with afterwards.")] = 10,
    language: Annotated[str, option("--language", "Of the words; give these as FOLDER=TEXT.")] = "en",
    work: Annotated[Path, option("--work", "For models, clips and embeddings.")] = Path("runs/anyword"),
    figures: Annotated[Path, option("--figures", "Earlier figures there are kept.")] = _OUT / "anyword.json",
) -> None:
    """What `wakeword train WORD` finds of people, told nothing but the text, and with some recordings."""
    from wakeword_experiments.two_stages.two_stages_run import measure_any_words

    begin(1)
    measure_any_words(
        word,
        audio,
        speech,
        other or [],
        work,
        figures,
        takes=takes,
        language=language,
        command=command_line(),
        report=report_progress,
    )


def languages(
    speech: Annotated[list[Path], option("--speech", "Recordings in other languages; repeatable.")],
    figures: Annotated[Path, typer.Option("--figures")] = _OUT / "languages.json",
) -> None:
    """The included words in speech of other languages."""
    from wakeword_experiments.two_stages.languages_study import measure_languages

    begin(1)
    measure_languages(speech, figures, command=command_line(), report=report_progress)


def recognisers(
    encoders: Annotated[list[Path], option("--encoders", "With phonemes.onnx and its table; repeatable.")],
    word: _Words,
    audio: _Audio,
    speech: Annotated[list[Path], option("--speech", "Long recordings of other people; repeatable.")],
    noise: Annotated[list[Path], option("--noise", "Noise and music that none was taught; repeatable.")],
    figures: Annotated[Path, typer.Option("--figures")] = _OUT / "recognisers.json",
) -> None:
    """What phoneme recognisers hear of people as recorded, in noise and in rooms."""
    from wakeword_experiments.two_stages.recogniser_study import measure_recognisers

    begin(1)
    measure_recognisers(encoders, word, audio, speech, noise, figures, command=command_line(), report=report_progress)


def exports(
    word: _Words,
    file: Annotated[list[str], option("--file", "A row and its file; repeatable.", "NAME=FILE")],
    audio: _Audio,
    speech: Annotated[list[Path], option("--speech", "Long recordings to count false accepts in; repeatable.")],
    out: Annotated[Path, option("--out", "Folder for the results.")] = _OUT,
) -> None:
    """A word's own file, its exports and models of other engines, on the same people and speech."""
    from wakeword_experiments.two_stages.exports import measure_exports

    begin(1)
    files = {name: Path(path) for name, _, path in (one.partition("=") for one in file)}
    for one in word:
        measure_exports(one, files, audio, speech, out, command=command_line(), report=report_progress)


def close_words(
    engine: Annotated[
        list[str] | None, option("--engine", "And clips of each text; repeatable. kokoro sounds human.", "NAME=CLIPS")
    ] = None,
    seed: Annotated[int, option("--seed", "Seed of the clips.")] = 0,
    people: Annotated[Path, option("--people", "The figures behind the page of accuracy.")] = _OUT / "two-stages.json",
    work: Annotated[Path, option("--work", "For synthesised clips.")] = Path("runs/close-words"),
    out: Annotated[Path, option("--out", "Folder for the results.")] = _OUT,
) -> None:
    """The included models on the paper's own close words for marvin and seven."""
    from wakeword_experiments.two_stages.close_words import measure_close_words

    begin(1)
    measure_close_words(
        engine or ["espeak-ng=32", "command:train/evidence/engines/flite.toml=8"],
        people,
        work,
        out,
        seed=seed,
        command=command_line(),
        report=report_progress,
    )


def dictionary_words(
    engine: Annotated[
        list[str], option("--engine", "Unknown to training, and clips of each text; repeatable.", "NAME=CLIPS")
    ],
    seed: Annotated[int, option("--seed", "Seed of the clips.")] = 0,
    people: Annotated[Path, option("--people", "The figures behind the page of accuracy.")] = _OUT / "two-stages.json",
    work: Annotated[Path, option("--work", "For synthesised clips.")] = Path("runs/close-words"),
    out: Annotated[Path, option("--out", "Folder for the results.")] = _OUT,
) -> None:
    """The included models on close words from a dictionary, spoken by engines that training did not have."""
    from wakeword_experiments.two_stages.dictionary_page import measure_dictionary_words

    begin(1)
    measure_dictionary_words(engine, people, work, out, seed=seed, command=command_line(), report=report_progress)


def collections(
    audio: _Audio,
    talk: Annotated[list[Path], option("--talk", "Long recordings with transcripts; repeatable.")],
    recipes: _Recipes = Path("assets/configs"),
    voices: Annotated[Path | None, option("--voices", "The wake words by voice, to be measured too.")] = None,
    before: Annotated[Path | None, option("--before", "The figures (JSON) of earlier models.")] = None,
    rooms: Annotated[Path | None, option("--rooms", "Measured responses of rooms, to hear the people in.")] = None,
    origin: Annotated[str, option("--rooms-origin", "Where they come from.")] = "",
    out: Annotated[Path, option("--out", "Folder for the results.")] = _OUT,
) -> None:
    """Recall of the included models by the collection in which the word is said."""
    from wakeword_experiments.two_stages.other_collections import measure_collections

    begin(1)
    measure_collections(
        audio,
        voices,
        talk,
        recipes,
        out,
        before=before,
        rooms=rooms,
        origin=origin,
        command=command_line(),
        report=report_progress,
    )
