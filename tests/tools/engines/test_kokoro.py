"""Laws of Kokoro's voices, with a small network instead of Kokoro's."""

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from wakeword import ConfigError, SynthesisError
from wakeword.model.installed import HOME_VARIABLE
from wakeword_tools.engines.kokoro import KokoroSynthesizer, kokoro_voices
from wakeword_tools.engines.kokoro_network import foreign_sounds, network_of
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.synthesizer import Prosody, Synthesizer
from wakeword_tools.engines.voice import Voice, kokoro_folder, voices_folder

INSTALLED = kokoro_folder()
"""Where this machine has Kokoro, before a test moves the folder of voices."""
# Every voice of Kokoro-82M v1.0.
SPEAKERS = {
    "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
    "am": "adam echo eric fenrir liam michael onyx puck santa",
    "bf": "alice emma isabella lily",
    "bm": "daniel fable george lewis",
    "ef": "dora",
    "em": "alex santa",
    "ff": "siwis",
    "hf": "alpha beta",
    "hm": "omega psi",
    "if": "sara",
    "im": "nicola",
    "jf": "alpha gongitsune nezumi tebukuro",
    "jm": "kumo",
    "pf": "dora",
    "pm": "alex santa",
    "zf": "xiaobei xiaoni xiaoxiao xiaoyi",
    "zm": "yunjian yunxi yunxia yunyang",
}
NAMES = [f"{kind}_{name}" for kind, names in SPEAKERS.items() for name in names.split()]
FEW = ("af_heart", "am_adam", "bf_emma", "bm_daniel", "af_nova", "jf_alpha")
SYMBOLS = ".!?,ˈˌː:;abcdefhijklmnopstuvwzæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧθAIOQTWYᵊᵻ "
VOCABULARY = {symbol: number for number, symbol in enumerate(SYMBOLS, 1)}


def write_model(path: Path, tokens: str = "input_ids", style: int = 256) -> None:
    """A network with Kokoro's inputs: 50 ms for each token, divided by speed; a tone set by style mean and end mark."""
    nodes = [
        helper.make_node("Size", [tokens], ["length"]),
        helper.make_node("Cast", ["length"], ["tokens_as_float"], to=TensorProto.FLOAT),
        helper.make_node("Squeeze", ["speed"], ["rate"]),
        helper.make_node("Mul", ["tokens_as_float", "samples_of_a_token"], ["at_usual_speed"]),
        helper.make_node("Div", ["at_usual_speed", "rate"], ["samples"]),
        helper.make_node("Range", ["zero", "samples", "one"], ["time"]),
        helper.make_node("ReduceMean", ["style"], ["height"], keepdims=0),
        helper.make_node("Gather", [tokens, "before_last"], ["mark"], axis=1),
        helper.make_node("Cast", ["mark"], ["mark_as_float"], to=TensorProto.FLOAT),
        helper.make_node("Squeeze", ["mark_as_float"], ["mark_alone"]),
        helper.make_node("Mul", ["mark_alone", "step"], ["melody"]),
        helper.make_node("Add", ["height", "melody"], ["pitch"]),
        helper.make_node("Mul", ["time", "pitch"], ["phase"]),
        helper.make_node("Sin", ["phase"], ["audio"]),
    ]
    constants = [
        helper.make_tensor("samples_of_a_token", TensorProto.FLOAT, [], [1_200.0]),
        helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("step", TensorProto.FLOAT, [], [0.01]),
        helper.make_tensor("before_last", TensorProto.INT64, [1], [-2]),
    ]
    inputs = [
        helper.make_tensor_value_info(tokens, TensorProto.INT64, [1, "length"]),
        helper.make_tensor_value_info("style", TensorProto.FLOAT, [1, style]),
        helper.make_tensor_value_info("speed", TensorProto.FLOAT, [1]),
    ]
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ["samples"])]
    graph = helper.make_graph(nodes, "kokoro", inputs, outputs, constants)
    path.parent.mkdir(parents=True, exist_ok=True)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def write_voices(folder: Path) -> None:
    (folder / "voices").mkdir()
    for number, name in enumerate(FEW):
        np.full((510, 256), 0.05 + 0.02 * number, np.float32).tofile(folder / "voices" / f"{name}.bin")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as it is installed."""
    root = tmp_path / "kokoro"
    write_model(root / "onnx" / "model_quantized.onnx")
    write_voices(root)
    (root / "vocab.json").write_text(json.dumps({"vocab": VOCABULARY}))
    return root


def named(folder: Path) -> dict[str, Voice]:
    return {voice.variant: voice for voice in kokoro_voices(folder)}


def tone(samples: np.ndarray) -> float:
    """The strongest frequency, in radians a sample at 24 kHz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 19))
    return float(np.argmax(spectrum)) / (1 << 19) * 2 * np.pi * 16 / 24


def test_it_speaks_at_16_khz_at_the_given_rate_and_always_the_same(folder: Path) -> None:
    kokoro: Synthesizer = KokoroSynthesizer()
    voice = named(folder)["af_heart"]
    usual, fast = (kokoro.speak("hello there", voice, Prosody(rate=rate)) for rate in (1.0, 1.25))
    assert usual.dtype == np.float32
    assert len(usual) % 800 == pytest.approx(0, abs=1)  # 50 ms for a token
    assert len(fast) == pytest.approx(len(usual) / 1.25, abs=2)
    np.testing.assert_array_equal(kokoro.speak("hello there", voice), usual)


def test_other_names_of_inputs_make_no_difference(tmp_path: Path) -> None:
    spoken = []
    for tokens, model in (("input_ids", "onnx/m.onnx"), ("tokens", "m.onnx")):
        root = tmp_path / tokens
        write_model(root / model, tokens)
        write_voices(root)
        (root / "vocab.json").write_text(json.dumps({"vocab": VOCABULARY}))
        spoken.append(KokoroSynthesizer().speak("marvin", named(root)["af_heart"]))
    np.testing.assert_array_equal(*spoken)


def test_the_end_mark_sets_the_intonation_and_none_is_a_comma(folder: Path) -> None:
    voice = named(folder)["af_heart"]
    tones = {mark: tone(KokoroSynthesizer().speak(f"marvin{mark}", voice)) for mark in ("", *",.!?")}
    steps = {mark: (pitch - 0.05) / 0.01 for mark, pitch in tones.items()}
    assert {mark: round(step) for mark, step in steps.items() if mark} == {mark: VOCABULARY[mark] for mark in ",.!?"}
    assert steps[""] == steps[","]


def test_phonemes_are_spoken_like_their_word(folder: Path) -> None:
    voice = named(folder)["af_heart"]
    word, phonemes, other = (KokoroSynthesizer().speak(text, voice) for text in ("marvin", "[[m'A@vIn]]", "[[m'A@]]"))
    np.testing.assert_array_equal(word, phonemes)
    assert len(other) < len(word)


def test_british_voices_drop_the_r(folder: Path) -> None:
    american, british = (KokoroSynthesizer().speak("car", named(folder)[name]) for name in ("af_heart", "bf_emma"))
    assert len(american) == len(british)  # the r in one, the length of the vowel in the other
    american, british = (KokoroSynthesizer().speak("letter", named(folder)[name]) for name in ("af_heart", "bf_emma"))
    assert len(american) == len(british) + 800


def test_no_voice_is_given_sounds_of_other_languages_that_it_would_say_wrong(folder: Path) -> None:
    symbols = {symbol: number for number, symbol in enumerate([*SYMBOLS, *"ʔqχhʁ"], 1)}
    network = dataclasses.replace(network_of(str(folder)), vocabulary=symbols)
    # "Reception", "hour" and "five" in Arabic, with a glottal stop and q, the sound of ayn, and that of kha.
    said = [network.tokens(text, foreign_sounds(text, "ar")) for text in ("اِسْتِقْبال", "ساعَة", "خَمْسَة")]
    assert all(len(tokens) > 4 for tokens in said)
    assert not {symbols[symbol] for symbol in "ʔqχ"} & {token for tokens in said for token in tokens}
    assert symbols["k"] in said[0]


def test_a_mixture_is_between_its_voices(folder: Path) -> None:
    mixtures = [voice for voice in kokoro_voices(folder) if "*" in voice.variant]
    assert mixtures
    for voice in mixtures:
        parts = [part.split("*") for part in voice.variant.split("+")]
        mean = sum(float(weight) * (0.05 + 0.02 * FEW.index(name)) for name, weight in parts)
        assert tone(KokoroSynthesizer().speak("marvin.", voice)) == pytest.approx(
            mean + 0.01 * VOCABULARY["."], abs=1e-3
        )


@pytest.fixture
def all_voices(folder: Path) -> list[Voice]:
    for name in NAMES:
        (folder / "voices" / f"{name}.bin").touch()
    return kokoro_voices(folder)


def test_every_voice_is_a_source_in_one_split_and_most_are_for_training(all_voices: list[Voice]) -> None:
    alone = [voice for voice in all_voices if "*" not in voice.variant]
    assert {voice.source for voice in alone} == {f"kokoro:{name}" for name in NAMES}
    splits = Counter(voice.split for voice in alone)
    assert 0.6 < splits["train"] / len(NAMES) < 0.8
    assert min(splits["validation"], splits["test"]) >= 5
    english = Counter(voice.split for voice in alone if voice.accent.startswith("en"))
    assert english["train"] > english["validation"] + english["test"]
    assert min(english.values()) >= 2


def test_only_training_voices_are_mixed_and_no_set_of_them_twice(all_voices: list[Voice]) -> None:
    split_of = {voice.source: voice.split for voice in all_voices}
    assert len(split_of) == len(all_voices)
    mixtures = [voice for voice in all_voices if "*" in voice.variant]
    assert len(mixtures) >= 40
    for voice in mixtures:
        parts = dict(part.split("*") for part in voice.variant.split("+"))
        assert voice.source == "kokoro:" + "+".join(sorted(parts))
        assert 2 <= len(parts) <= 3
        assert {split_of[f"kokoro:{name}"] for name in parts} == {voice.split} == {"train"}
        assert sum(map(float, parts.values())) == pytest.approx(1, abs=0.002)
        assert max(parts, key=lambda name: float(parts[name]))[0] in "ab"


def test_only_what_is_installed_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(folder.parent / "home"))
    with pytest.raises(ConfigError, match=r"expected Kokoro in .*install it"):
        english_voices(engines=["kokoro"])
    voices_folder().mkdir(parents=True)
    folder.rename(voices_folder() / "kokoro")
    assert english_voices(engines=["kokoro"]) == kokoro_voices(voices_folder() / "kokoro")


def without_voices(folder: Path) -> None:
    (folder / "voices").rename(folder / "styles")


def with_two_models(folder: Path) -> None:
    write_model(folder / "onnx" / "model.onnx")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without_voices, r"voices/\*.bin, found none"),
        (with_two_models, "expected one ONNX model inside it, found onnx/model.onnx, onnx/model_quantized.onnx"),
        (lambda folder: (folder / "onnx" / "model_quantized.onnx").unlink(), "one ONNX model inside it, found none"),
        (lambda folder: (folder / "vocab.json").unlink(), "expected Kokoro's symbols, got: "),
        (lambda folder: (folder / "vocab.json").write_text("[]"), "expected Kokoro's symbols, got: "),
        (lambda folder: (folder / "vocab.json").write_text('{"vocab": {"a": 1}}'), "are missing"),
    ],
)
def test_the_error_of_a_folder_without_kokoro_names_where_to_get_it(folder: Path, spoil: object, message: str) -> None:
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(ConfigError, match=message) as caught:
        kokoro_voices(folder)
    assert "\n" not in str(caught.value)
    assert "wakeword voices install kokoro" in str(caught.value)


def test_an_invalid_model_or_voice_is_refused(folder: Path) -> None:
    voices = named(folder)
    (folder / "voices" / "am_adam.bin").write_bytes(b"1234" * 256)
    with pytest.raises(ConfigError, match=r"expected float32 \(510, 256\), got 256 numbers"):
        KokoroSynthesizer().speak("marvin", voices["am_adam"])
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    (elsewhere / "onnx" / "model_quantized.onnx").write_bytes(b"no network")
    with pytest.raises(ConfigError, match="could not load it"):
        KokoroSynthesizer().speak("marvin", named(elsewhere)["af_heart"])
    other = elsewhere.rename(folder.with_name("other"))
    write_model(other / "onnx" / "model_quantized.onnx", style=128)
    with pytest.raises(ConfigError, match="expected inputs for tokens, style and speed"):
        KokoroSynthesizer().speak("marvin", named(other)["af_heart"])


@pytest.mark.parametrize("text", ["?!", " ", "marvin " * 100])
def test_a_text_without_sounds_or_with_too_many_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(SynthesisError, match="expected 1 to 509 sounds"):
        KokoroSynthesizer().speak(text, named(folder)["af_heart"])


@pytest.mark.skipif(INSTALLED is None, reason="Kokoro is not installed")
def test_the_real_weights_speak_a_word() -> None:
    assert INSTALLED is not None
    voices = named(INSTALLED)
    kokoro = KokoroSynthesizer()
    slow, fast = (kokoro.speak("marvin", voices["af_heart"], Prosody(rate=rate)) for rate in (0.8, 1.3))
    assert 0.3 * 16_000 < len(fast) < 0.9 * len(slow)
    assert len(slow) < 2.5 * 16_000
    assert 0.05 < np.abs(slow).max() <= 1.2
    np.testing.assert_array_equal(kokoro.speak("marvin", voices["af_heart"], Prosody(rate=0.8)), slow)
    assert len(kokoro.speak("marvin", voices["bm_george"])) != len(kokoro.speak("marvin", voices["af_heart"]))
