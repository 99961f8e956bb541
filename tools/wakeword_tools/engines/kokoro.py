"""Kokoro's neural voices, from a folder that the user has: 54 recorded speakers and mixtures of them.

The folder is laid out as ``onnx-community/Kokoro-82M-v1.0-ONNX`` on Hugging Face is:

    onnx/model_quantized.onnx   one model, anywhere below the folder
    voices/af_heart.bin         float32 (510, 256): a style for each number of sounds
    tokenizer.json              or vocab.json, {"vocab": {"a": 43, ...}}

Every voice speaks English, those of other languages with their accent. A mixture is a weighted mean of styles, which sounds
like somebody else; only voices for training are mixed, and only with one another.
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import soxr

from wakeword.audio import SAMPLE_RATE
from wakeword.errors import ConfigError, SynthesisError
from wakeword.features import Array
from wakeword_tools.engines.espeak import shared_espeak
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voices import KOKORO, Voice, split_of_source
from wakeword_tools.kinds import Split

if TYPE_CHECKING:
    import onnxruntime

ENVIRONMENT = "WAKEWORD_KOKORO"
"""Variable that holds the folder where none is given."""

_NATIVE_RATE, _LENGTHS, _STYLE = 24_000, 510, 256
_MARKS, _NO_MARK = ".!?,", ","
_MIXTURES_OF_A_VOICE = 3
_BRITISH = "en-GB"
# First letter of a voice's name -> what its speaker speaks.
_ACCENTS = {"a": "en-US", "b": _BRITISH, "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt-BR", "z": "zh"}
_GET = (
    "get onnx/model_quantized.onnx, voices/ and tokenizer.json of onnx-community/Kokoro-82M-v1.0-ONNX, or leave the "
    "engine out (in a recipe, the table [synthesis.natural])"
)

# espeak-ng's IPA, ^ within what is one sound -> the symbols that Kokoro was trained on, in this order: after the
# fallback of misaki, its own reader of texts.
_FROM_IPA = (
    *(("ʔˌn\u0329", "tᵊn"), ("ʔn\u0329", "tᵊn"), ("ʔn", "tᵊn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A")),
    *(("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ")),
    *(("x", "k"), ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""), ("\u0329", "")),
)
_FROM_AMERICAN = (
    *(("o^ʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""), ("ɾ", "T"), ("ʔ", "t")),
    ("^", ""),
)
_FROM_BRITISH = (("e^ə", "ɛː"), ("iə", "ɪə"), ("ə^ʊ", "Q"), ("ʔ", "t"), ("^", ""))


class KokoroSynthesizer:
    """Kokoro inside this process. Takes phonemes as espeak-ng does, which reads the texts for it."""

    engine = KOKORO

    def voices(self) -> list[Voice]:
        """None that come with it: see ``kokoro_voices``."""
        return []

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """See ``Synthesizer.speak``. Pitch has no effect. A full stop, exclamation or question mark at the end of the text
        sets the melody; without one the voice stays up, as before a comma. ``ConfigError`` if the folder in
        ``voice.locator`` cannot be used.
        """
        if voice.engine != self.engine:
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        network = _network(voice.locator)
        tokens = network.tokens(text, british=voice.accent == _BRITISH)
        if not 0 < len(tokens) < _LENGTHS:
            raise SynthesisError(f"expected 1 to {_LENGTHS - 1} sounds to speak, got {len(tokens)} of {text!r}")
        parts = [weight * network.style(name, len(tokens)) for name, weight in _weights(voice.variant).items()]
        native = network.run(tokens, sum(parts, np.zeros(_STYLE, np.float32)), (prosody or Prosody()).rate)
        samples: Array = soxr.resample(native, _NATIVE_RATE, SAMPLE_RATE)
        return samples


@dataclass(frozen=True)
class _Network:
    """A folder's model, its symbols and its voices."""

    folder: Path
    session: "onnxruntime.InferenceSession"
    inputs: tuple[str, str, str]
    """Names of tokens, style and speed."""
    vocabulary: dict[str, int]

    def tokens(self, text: str, *, british: bool) -> list[int]:
        """The text's sounds and its mark; empty if it has none."""
        mark = text.rstrip()[-1:]
        ipa = shared_espeak().ipa(text, "en" if british else "en-US")
        for old, new in (*_FROM_IPA, *(_FROM_BRITISH if british else _FROM_AMERICAN)):
            ipa = ipa.replace(old, new)
        if not any(symbol.isalpha() for symbol in ipa):
            return []
        sounds = [self.vocabulary[symbol] for symbol in ipa if symbol in self.vocabulary]
        return [*sounds, self.vocabulary[mark if mark and mark in _MARKS else _NO_MARK]]

    def style(self, name: str, length: int) -> Array:
        """Of a voice that says so many tokens, ``(256,)``."""
        style: Array = _styles(self.folder / "voices" / f"{name}.bin")[length]
        return style

    def run(self, tokens: list[int], style: Array, speed: float) -> Array:
        """``(samples,)`` float32 at 24 kHz of tokens said in a style ``(256,)``."""
        values = (np.array([[0, *tokens, 0]], np.int64), style[None], np.array([speed], np.float32))
        try:
            (audio, *_) = self.session.run(None, dict(zip(self.inputs, values, strict=True)))
        except Exception as error:  # ONNX Runtime raises what it likes
            raise SynthesisError(f"{self.folder}: Kokoro failed on {len(tokens)} sounds: {error}") from error
        return np.asarray(audio, np.float32).ravel()


def kokoro_voices(place: Path | str = "", split: Split | None = None) -> list[Voice]:
    """The voices of a folder, by default of that in the environment variable ``WAKEWORD_KOKORO``, and mixtures of those
    for training.

    Without a ``split``, each voice goes to one by a hash of its name. Raises ``ConfigError`` if the folder is not as above.
    """
    folder = _folder(place)
    found = sorted(path.stem for path in (folder / "voices").glob("*.bin"))
    if not found:
        raise ConfigError(f"{folder}: expected Kokoro's voices in voices/*.bin, found none; {_GET}")
    _model_file(folder), _vocabulary(folder)  # told before any work
    voices = [_voice({name: 1.0}, folder, split or split_of_source(f"{KOKORO}:{name}")) for name in found]
    return voices + _mixtures([voice for voice in voices if voice.split is Split.TRAIN], folder)


def _mixtures(voices: list[Voice], folder: Path) -> list[Voice]:
    """Two or three of the voices each, led by every English one in turn; no set of voices twice."""
    random = np.random.default_rng(0)
    mixed: dict[str, Voice] = {}
    for leader in voices:
        others = [voice.variant for voice in voices if voice is not leader]
        if not leader.accent.startswith("en") or not others:
            continue
        for _ in range(_MIXTURES_OF_A_VOICE):
            size = min(int(random.integers(1, 3)), len(others))
            names = [leader.variant, *random.choice(others, size, replace=False).tolist()]
            weights = np.sort(random.dirichlet([2.0] * len(names)))[::-1].round(3)
            voice = _voice(dict(zip(names, weights.tolist(), strict=True)), folder, Split.TRAIN)
            mixed.setdefault(voice.source, voice)
    return list(mixed.values())


def _voice(weights: dict[str, float], folder: Path, split: Split) -> Voice:
    first = next(iter(weights))
    alone = len(weights) == 1
    return Voice(
        name=f"{KOKORO}:{'+'.join(weights)}",
        engine=KOKORO,
        accent=_ACCENTS.get(first[0], "en-US"),
        variant=first if alone else "+".join(f"{name}*{weight}" for name, weight in weights.items()),
        source=f"{KOKORO}:{'+'.join(sorted(weights))}",
        split=split,
        licence="Apache-2.0",
        locator=str(folder),
    )


def _weights(variant: str) -> dict[str, float]:
    """What a variant is made of: ``af_heart`` or ``af_heart*0.7+am_adam*0.3``."""
    parts = [part.partition("*") for part in variant.split("+")]
    try:
        return {name: float(weight or 1) for name, _, weight in parts}
    except ValueError as error:
        raise SynthesisError(
            f"expected a voice of {KOKORO} such as af_heart*0.7+am_adam*0.3, got {variant!r}"
        ) from error


def _folder(place: Path | str) -> Path:
    given = str(place) or os.environ.get(ENVIRONMENT, "")
    if not given:
        raise ConfigError(f"expected a folder with Kokoro, as {KOKORO}:FOLDER or in {ENVIRONMENT}; {_GET}")
    if not Path(given).is_dir():
        raise ConfigError(f"{given}: expected a folder with Kokoro, found none; {_GET}")
    return Path(given).resolve()


def _model_file(folder: Path) -> Path:
    files = sorted(folder.rglob("*.onnx"))
    if len(files) != 1:
        names = ", ".join(str(file.relative_to(folder)) for file in files) or "none"
        raise ConfigError(f"{folder}: expected one ONNX model below it, found {names}; keep one, or {_GET}")
    return files[0]


def _vocabulary(folder: Path) -> dict[str, int]:
    """Symbol -> token."""
    path = next((folder / name for name in ("vocab.json", "tokenizer.json") if (folder / name).is_file()), None)
    if path is None:
        raise ConfigError(f"{folder}: expected vocab.json or tokenizer.json in it, found neither; {_GET}")
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        vocabulary = {str(symbol): int(token) for symbol, token in held.get("model", held)["vocab"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: expected Kokoro's symbols and their tokens ({error!r}); {_GET}") from error
    if missing := sorted({*_MARKS, "ˈ", "ə"} - vocabulary.keys()):
        raise ConfigError(f"{path}: expected Kokoro's symbols, but {' '.join(missing)} are not there; {_GET}")
    return vocabulary


@cache
def _styles(path: Path) -> Array:
    try:
        values = np.fromfile(path, "<f4").astype(np.float32)
    except OSError as error:
        raise ConfigError(f"{path}: expected a voice of Kokoro, could not read it: {error.strerror}") from error
    if len(values) != _LENGTHS * _STYLE or not np.isfinite(values).all():
        raise ConfigError(f"{path}: expected float32 ({_LENGTHS}, {_STYLE}), got {len(values)} numbers; {_GET}")
    return values.reshape(_LENGTHS, _STYLE)


@cache
def _network(folder: str) -> _Network:
    import onnxruntime

    path = _model_file(_folder(folder))
    options = onnxruntime.SessionOptions()
    # One thread, so that sums are always taken in the same order.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has no base of its own for what it raises
        raise ConfigError(f"{path}: expected Kokoro's model, could not load it: {error}") from error
    kinds = {(put.type, put.shape[-1] if put.shape else None): put.name for put in session.get_inputs()}
    tokens = next((name for (kind, _), name in kinds.items() if kind == "tensor(int64)"), None)
    style, speed = kinds.get(("tensor(float)", _STYLE)), kinds.get(("tensor(float)", 1))
    if tokens is None or style is None or speed is None or len(kinds) != 3:
        raise ConfigError(f"{path}: expected inputs for tokens, style and speed, got {sorted(kinds.values())}; {_GET}")
    return _Network(Path(folder), session, (tokens, style, speed), _vocabulary(Path(folder)))
