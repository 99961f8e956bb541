"""The commands of these experiments: their options and one call each."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword_experiments.invocation import begin, command_line, report_progress

_OUT = Path("train/evidence/results")
_Audio = Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")]
_Voices = Annotated[Path, typer.Option("--voices", help="The wake words by voice: see the command voices.")]
_Clips = Annotated[Path, typer.Option("--clips", help="Synthesised clips: said-WORD, close-WORD, other, ....")]
_Background = Annotated[list[Path] | None, typer.Option("--background", help="In place of the audio folder's.")]
_Recipes = Annotated[Path, typer.Option("--recipes", help="The recipes.")]
_Words = Annotated[list[str], typer.Option("--word", help="A keyword; repeatable.")]


def two_stages(
    model: Annotated[
        list[Path], typer.Option("--model", help="A model of two stages, named as its recipe; repeatable.")
    ],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    recipes: _Recipes = Path("assets/configs"),
    work: Annotated[Path, typer.Option("--work", help="For embeddings.")] = Path("runs"),
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
    recipe: Annotated[Path, typer.Option("--recipe", help="The recipe (TOML) of all words.")],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    speech: Annotated[
        list[Path] | None, typer.Option("--speech", help="Unheard: false accepts are counted in it.")
    ] = None,
    recorded: Annotated[bool, typer.Option("--recorded", help="Train on recordings of the word too.")] = False,
    takes: Annotated[int, typer.Option("--takes", min=0, help="Recordings for fine-tuning afterwards.")] = 0,
    work: Annotated[Path, typer.Option("--work", help="For models and embeddings.")] = Path("runs/unheard"),
    figures: Annotated[Path, typer.Option("--figures", help="Earlier figures there are kept.")] = _OUT / "unheard.json",
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
    recipe: Annotated[
        Path, typer.Option("--recipe", help="The recipe (TOML) of a word of Speech Commands that few say.")
    ],
    audio: _Audio,
    voices: _Voices,
    clips: _Clips,
    background: _Background = None,
    count: Annotated[int, typer.Option("--folds", min=2, help="Trainings; each tests other people.")] = 3,
    cut: Annotated[
        list[str] | None, typer.Option("--cut", help="Part of the name of a recording that ends inside the word.")
    ] = None,
    work: Annotated[Path, typer.Option("--work", help="For models and embeddings.")] = Path("runs/folds"),
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = _OUT,
) -> None:
    """Recall of a recipe with both stages, by folds over the people who say the word."""
    from wakeword_experiments.two_stages.stage_folds import run_stage_folds
    from wakeword_experiments.two_stages.two_stages_run import Sources

    begin(1)
    sources = Sources(audio, voices, clips, tuple(background or ()))
    run_stage_folds(recipe, sources, count, work, out, cut=cut or [], command=command_line(), report=report_progress)


def fold_cards(
    models: Annotated[Path, typer.Option("--models", help="Folder of the included models.")] = Path("assets/models"),
    results: Annotated[Path, typer.Option("--results", help="Folder of the records.")] = _OUT,
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
    engine: Annotated[list[str] | None, typer.Option("--engine", help="Default: all that run here.")] = None,
    recipe: Annotated[Path, typer.Option("--recipe", help="Ours of the same word.")] = Path(
        "assets/configs/alexa.toml"
    ),
    figures: Annotated[Path, typer.Option("--figures", help="Other engines there are kept.")] = _OUT / "peers.json",
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
    speech: Annotated[
        list[Path], typer.Option("--speech", help="Long recordings to count false accepts in; repeatable.")
    ],
    other: Annotated[
        list[Path] | None, typer.Option("--other", help="Music, noise or other languages; repeatable.")
    ] = None,
    takes: Annotated[int, typer.Option("--takes", min=0, help="Recordings to train with afterwards.")] = 10,
    language: Annotated[str, typer.Option("--language", help="Of the words; give these as FOLDER=TEXT.")] = "en",
    work: Annotated[Path, typer.Option("--work", help="For models, clips and embeddings.")] = Path("runs/anyword"),
    figures: Annotated[Path, typer.Option("--figures", help="Earlier figures there are kept.")] = _OUT / "anyword.json",
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
    speech: Annotated[list[Path], typer.Option("--speech", help="Recordings in other languages; repeatable.")],
    figures: Annotated[Path, typer.Option("--figures")] = _OUT / "languages.json",
) -> None:
    """The included words in speech of other languages."""
    from wakeword_experiments.two_stages.languages_study import measure_languages

    begin(1)
    measure_languages(speech, figures, command=command_line(), report=report_progress)


def recognisers(
    encoders: Annotated[list[Path], typer.Option("--encoders", help="With phonemes.onnx and its table; repeatable.")],
    word: _Words,
    audio: _Audio,
    speech: Annotated[list[Path], typer.Option("--speech", help="Long recordings of other people; repeatable.")],
    noise: Annotated[list[Path], typer.Option("--noise", help="Noise and music that none was taught; repeatable.")],
    figures: Annotated[Path, typer.Option("--figures")] = _OUT / "recognisers.json",
) -> None:
    """What phoneme recognisers hear of people as recorded, in noise and in rooms."""
    from wakeword_experiments.two_stages.recogniser_study import measure_recognisers

    begin(1)
    measure_recognisers(encoders, word, audio, speech, noise, figures, command=command_line(), report=report_progress)


def exports(
    word: _Words,
    file: Annotated[list[str], typer.Option("--file", metavar="NAME=FILE", help="A row and its file; repeatable.")],
    audio: _Audio,
    speech: Annotated[
        list[Path], typer.Option("--speech", help="Long recordings to count false accepts in; repeatable.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = _OUT,
) -> None:
    """A word's own file, its exports and models of other engines, on the same people and speech."""
    from wakeword_experiments.two_stages.exports import measure_exports

    begin(1)
    files = {name: Path(path) for name, _, path in (one.partition("=") for one in file)}
    for one in word:
        measure_exports(one, files, audio, speech, out, command=command_line(), report=report_progress)


def close_words(
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", metavar="NAME=CLIPS", help="And clips of each text; repeatable. kokoro sounds human."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the clips.")] = 0,
    people: Annotated[Path, typer.Option("--people", help="The figures behind the page of accuracy.")] = _OUT
    / "two-stages.json",
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips.")] = Path("runs/close-words"),
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = _OUT,
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
        list[str],
        typer.Option("--engine", metavar="NAME=CLIPS", help="Unknown to training, and clips of each text; repeatable."),
    ],
    seed: Annotated[int, typer.Option("--seed", help="Seed of the clips.")] = 0,
    people: Annotated[Path, typer.Option("--people", help="The figures behind the page of accuracy.")] = _OUT
    / "two-stages.json",
    work: Annotated[Path, typer.Option("--work", help="For synthesised clips.")] = Path("runs/close-words"),
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = _OUT,
) -> None:
    """The included models on close words from a dictionary, spoken by engines that training did not have."""
    from wakeword_experiments.two_stages.dictionary_page import measure_dictionary_words

    begin(1)
    measure_dictionary_words(engine, people, work, out, seed=seed, command=command_line(), report=report_progress)


def collections(
    audio: _Audio,
    talk: Annotated[list[Path], typer.Option("--talk", help="Long recordings with transcripts; repeatable.")],
    recipes: _Recipes = Path("assets/configs"),
    voices: Annotated[
        Path | None, typer.Option("--voices", help="The wake words by voice, to be measured too.")
    ] = None,
    before: Annotated[Path | None, typer.Option("--before", help="The figures (JSON) of earlier models.")] = None,
    rooms: Annotated[
        Path | None, typer.Option("--rooms", help="Measured responses of rooms, to hear the people in.")
    ] = None,
    origin: Annotated[str, typer.Option("--rooms-origin", help="Where they come from.")] = "",
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = _OUT,
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
