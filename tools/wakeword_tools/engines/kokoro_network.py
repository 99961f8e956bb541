"""Kokoro's network and the rest of its folder: symbols, styles of voices, and the tokens of texts."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.base.errors import ConfigError, SynthesisError, raising, reason_of
from wakeword.base.files import DAMAGED
from wakeword.base.types import Array
from wakeword_tools.engines.espeak import shared_espeak
from wakeword_tools.engines.languages import accents_of

LENGTHS, STYLE = 510, 256
"""Number of token counts that a voice has a style for, and size of a style."""
HOW_TO_GET = (
    "install it: wakeword voices install kokoro; or leave the engine out (in a recipe, the table [synthesis.natural])"
)

_MARKS, _NO_MARK = ".!?,", ","

# espeak-ng's IPA, with ^ within a single sound -> the symbols that Kokoro was trained on, in this order. Source: the
# espeak-ng fallback of misaki, Kokoro's own text reader.
_FROM_IPA = (
    *(("ʔˌn\u0329", "tᵊn"), ("ʔn\u0329", "tᵊn"), ("ʔn", "tᵊn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A")),
    *(("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ")),
    *(("x", "k"), ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""), ("\u0329", "")),
)
_FROM_AMERICAN = (
    *(("o^ʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""), ("ɾ", "T"), ("ʔ", "t")),
    ("^", ""),
)
_FROM_ANY = (
    *(("t^s.", "ꭧ"), ("ts.", "ꭧ"), ("t^ɕ", "ʨ"), ("d^ʑ", "ʥ"), ("t^s", "ʦ"), ("d^z", "ʣ"), ("t^ʃ", "ʧ"), ("d^ʒ", "ʤ")),
    *(("a^ɪ", "I"), ("a^ʊ", "W"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("ə^ʊ", "Q"), ("ɔ^ɪ", "Y"), ("s.", "ʂ"), ("i.", "ɨ")),
    # Sounds that it has not learnt: it says a glottal stop as t, and q as g or ng.
    *(("ʔ", ""), ("ʕ", ""), ("q", "k"), ("χ", "x")),
    *(("ħ", "h"), ("ɦ", "h"), ("ɫ", "l"), ("ɭ", "l"), ("ɬ", "l"), ("ʉ", "u"), ("ɵ", "ø"), ("ʏ", "y")),
    *(("ʐ", "ʒ"), ("ʑ", "ʒ"), ("ɗ", "d"), ("ɓ", "b"), ("ɠ", "ɡ"), ("ɢ", "ɡ"), ("ʀ", "ʁ"), ("ɱ", "m"), ("ɘ", "ə")),
)
"""Affricates and diphthongs, as Kokoro's reader writes them for every language, and the nearest of sounds that it lacks."""
_TONES = {"55": "→", "35": "↗", "214": "↓", "51": "↘", "11": ""}
"""Mandarin's: the pitch at the beginning and the end of a vowel -> Kokoro's mark behind it."""
_FROM_BRITISH = (("e^ə", "ɛː"), ("iə", "ɪə"), ("ə^ʊ", "Q"), ("ʔ", "t"), ("^", ""))


def english_sounds(text: str, *, british: bool) -> str:
    """The symbols of a text's sounds."""
    ipa = shared_espeak().ipa(text, "en" if british else "en-US")
    for old, new in (*_FROM_IPA, *(_FROM_BRITISH if british else _FROM_AMERICAN)):
        ipa = ipa.replace(old, new)
    return ipa


def foreign_sounds(text: str, language: str) -> str:
    """``english_sounds`` of a text in another language."""
    reader = accents_of(language)[0]
    ipa = _with_arrows(*shared_espeak().readings([text], reader)[0]) if language == "zh" else ""
    ipa = re.sub(r"\([^)]*\)", "", ipa or shared_espeak().ipa(text, reader))
    for old, new in _FROM_ANY:
        ipa = ipa.replace(old, new)
    return unicodedata.normalize("NFD", ipa)


@dataclass(frozen=True)
class KokoroNetwork:
    """A folder's model, its symbols and its voices."""

    folder: Path
    session: onnxruntime.InferenceSession
    inputs: tuple[str, str, str]
    """Names of tokens, style and speed."""
    vocabulary: dict[str, int]

    def tokens(self, text: str, sounds: str) -> list[int]:
        """The tokens of a text's sounds and of its end mark; empty if it has no sounds."""
        mark = text.rstrip()[-1:]
        if not any(symbol.isalpha() for symbol in sounds):
            return []
        tokens = [self.vocabulary[symbol] for symbol in sounds if symbol in self.vocabulary]
        return [*tokens, self.vocabulary[mark if mark and mark in _MARKS else _NO_MARK]]

    def style(self, name: str, length: int) -> Array:
        """The style of voice ``name`` for ``length`` tokens, ``(256,)``."""
        style: Array = _styles(self.folder / "voices" / f"{name}.bin")[length]
        return style

    def run(self, tokens: list[int], style: Array, speed: float) -> Array:
        """``(samples,)`` float32 at 24 kHz: the tokens spoken in a style ``(256,)``."""
        values = (np.array([[0, *tokens, 0]], np.int64), style[None], np.array([speed], np.float32))
        try:
            (audio, *_) = self.session.run(None, dict(zip(self.inputs, values, strict=True)))
        except Exception as error:  # ONNX Runtime's errors have no common base class
            raise SynthesisError(f"{self.folder}: Kokoro failed on {len(tokens)} sounds: {error}") from error
        return np.asarray(audio, np.float32).ravel()


def _with_arrows(own: str, ipa: str) -> str:
    """Mandarin's IPA with its tones, which only espeak-ng's own phonemes tell apart; empty where they do not agree."""
    pairs = [
        (sounds, symbol)
        for word, spelled in zip(own.split(), ipa.split(), strict=False)
        for sounds, symbol in zip(word.split("·"), spelled.split("·"), strict=False)
    ]
    found = ""
    for sounds, symbol in pairs:
        tone = re.search(r"\d+$", sounds)
        aspirated = re.sub("(?<=[^ˈˌ])h$", "ʰ", symbol)
        found += re.sub("[0-9ɜ]+$", "", symbol) + _TONES.get(tone.group(), "") if tone else aspirated
    return found


def network_file(folder: Path) -> Path:
    files = sorted(folder.rglob("*.onnx"))
    if len(files) != 1:
        names = ", ".join(str(file.relative_to(folder)) for file in files) or "none"
        raise ConfigError(f"{folder}: expected one ONNX model inside it, found {names}; keep one, or {HOW_TO_GET}")
    return files[0]


def vocabulary_of(folder: Path) -> dict[str, int]:
    """Symbol -> token."""
    path = folder / "vocab.json"
    with raising(ConfigError, f"{path}: expected Kokoro's symbols, got", OSError, *DAMAGED, hint=f"; {HOW_TO_GET}"):
        content = json.loads(path.read_text(encoding="utf-8"))
        vocabulary = {str(symbol): int(token) for symbol, token in content["vocab"].items()}
    if missing := sorted({*_MARKS, "ˈ", "ə"} - vocabulary.keys()):
        raise ConfigError(f"{path}: expected Kokoro's symbols, but {' '.join(missing)} are missing; {HOW_TO_GET}")
    return vocabulary


@cache
def _styles(path: Path) -> Array:
    with raising(ConfigError, f"{path}: expected a voice of Kokoro, got", OSError, hint=f"; {HOW_TO_GET}"):
        values = np.fromfile(path, "<f4").astype(np.float32)
    if len(values) != LENGTHS * STYLE or not np.isfinite(values).all():
        raise ConfigError(f"{path}: expected float32 ({LENGTHS}, {STYLE}), got {len(values)} numbers; {HOW_TO_GET}")
    return values.reshape(LENGTHS, STYLE)


@cache
def network_of(folder: str) -> KokoroNetwork:
    path = network_file(Path(folder))
    options = onnxruntime.SessionOptions()
    # One thread, so that sums are always computed in the same order.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors have no common base class
        raise ConfigError(
            f"{path}: expected Kokoro's model, could not load it: {reason_of(error)}; {HOW_TO_GET}"
        ) from error
    kinds = {(put.type, put.shape[-1] if put.shape else None): put.name for put in session.get_inputs()}
    tokens = next((name for (kind, _), name in kinds.items() if kind == "tensor(int64)"), None)
    style, speed = kinds.get(("tensor(float)", STYLE)), kinds.get(("tensor(float)", 1))
    if tokens is None or style is None or speed is None or len(kinds) != 3:
        raise ConfigError(
            f"{path}: expected inputs for tokens, style and speed, got {sorted(kinds.values())}; {HOW_TO_GET}"
        )
    return KokoroNetwork(Path(folder), session, (tokens, style, speed), vocabulary_of(Path(folder)))
