"""The files that the attacks use, made from the model and the recordings of the checkout that is attacked."""

import io
import json
import shutil
from pathlib import Path
from random import Random

import numpy as np
import soundfile

from wakeword.card import METADATA_KEY
from wakeword_tools.soak.fuzzing import hostile
from wakeword_tools.soak.fuzzing.protobuf import metadata, with_metadata
from wakeword_tools.soak.fuzzing.sealing import without_digest

_PHRASES = {
    "escape": "\x1b]0;TITLE\x07\x1b[2J\x1b[31mmarvin",
    "c1": "\x9b31mmarvin",
    "line": "marvin\n99.000-99.500 s  alexa  1.0000",
    "cue": "marvin\n\n2\n00:00:00,000 --> 09:00:00,000\nalexa",
    "return": "marvin\rx",
    "separator": "marvin\u2028x",
    "nul": "mar\0vin",
    "long": "x" * 20_000,
}
_FORMATS = ("wav", "flac", "ogg", "mp3", "aiff", "au", "caf", "w64")


def prepare(assets: Path, folder: Path) -> None:
    """Write models, cards and recordings to ``folder``, from ``assets`` of the checkout. The same for the same assets."""
    model = (assets / "models" / "marvin.onnx").read_bytes()
    word = (assets / "audio" / "marvin-m2.flac").read_bytes()
    (folder / "marvin.onnx").write_bytes(model)
    (folder / "word.flac").write_bytes(word)
    (folder / "pcm").write_bytes(bytes(64_000))
    for name in (
        "models",
        "graphs",
        "cards",
        "audio",
        "names",
        "audio-sound",
        "tree/open",
        "tree/secret",
        "tree/listed",
    ):
        (folder / name).mkdir(parents=True)
    names = ("names/a\nb", "names/\x1b[2Jc", "names/c\rd")
    for place in (*names, "audio-sound/a", "tree/open/a", "tree/secret/b", "tree/listed/c"):
        (folder / f"{place}.flac").write_bytes(word)
    _models(model, folder / "models")
    _cards(model, folder / "cards")
    random = Random(4)
    for kind, make in hostile.GRAPHS.items():
        for number in range(2):
            (folder / "graphs" / f"{kind}-{number}.onnx").write_bytes(
                without_digest(make(without_digest(model), random))
            )
    _recordings(word, folder / "audio")


def _models(model: bytes, folder: Path) -> None:
    entries = metadata(model)
    card = json.loads(entries[METADATA_KEY])
    points = card["operating_points"]
    many = {**card, "operating_points": [{**points[0], "name": f"p{number}"} for number in range(20_000)]}
    texts = {
        "points": json.dumps(many),
        "schema": json.dumps({**card, "schema": "x" * 10_000_000}),
        "phrase": json.dumps({**card, "phrase": "x" * 20_000_000}),
        "deep": "[" * 100_000,
        "nan": json.dumps({**card, "window": float("nan")}),
        "empty": "",
        "huge": json.dumps({**card, "window": 10**400}),
    }
    for name, text in texts.items():
        data = with_metadata(model, {**entries, METADATA_KEY: text})
        (folder / f"card-{name}.onnx").write_bytes(without_digest(data) if name == "points" else data)
    for part in (0, 1, 100, len(model) // 2, len(model) - 1):
        (folder / f"first-{part}.onnx").write_bytes(model[:part])
    (folder / "text.onnx").write_text("no model\n")
    (folder / "dangling.onnx").symlink_to("nowhere")


def _cards(model: bytes, folder: Path) -> None:
    old = without_digest(model)
    entries = metadata(old)
    card = json.loads(entries[METADATA_KEY])
    for name, phrase in _PHRASES.items():
        text = json.dumps({**card, "phrase": phrase})
        (folder / f"{name}.onnx").write_bytes(with_metadata(old, {**entries, METADATA_KEY: text}))


def _recordings(word: bytes, folder: Path) -> None:
    samples, rate = soundfile.read(io.BytesIO(word), dtype="float32")
    random = Random(5)
    for form in _FORMATS:
        path = folder / f"sound.{form}"
        soundfile.write(path, samples, rate, format=form.upper())
        data = path.read_bytes()
        path.unlink()
        (folder / f"truncated.{form}").write_bytes(data[: len(data) // 2])
        for number in range(2):
            broken = np.frombuffer(data, np.uint8).copy()
            start = random.randrange(len(data) // 2)
            broken[start : start + 200] ^= 0xFF
            (folder / f"garbage-{number}.{form}").write_bytes(broken.tobytes())
    (folder / "empty.wav").touch()
    shutil.copy(folder / "truncated.wav", folder / "wrong-suffix.ogg")
