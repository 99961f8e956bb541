"""Recordings as phones make them: encoded by PyAV."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import soundfile

needs_decoder = pytest.mark.skipif(find_spec("av") is None, reason="PyAV, the extra [phones], is not installed")

_CODECS = {".webm": "libopus", ".mkv": "libopus", ".caf": "adpcm_ima_qt"}
_RATES = {"libopus": 48_000}


def as_on_a_phone(path: Path, source: Path, *, layout: str = "mono", **options: str) -> Path:
    """A mono recording in the container that the name of ``path`` says, most with AAC. ``options`` are the muxer's."""
    codec = _CODECS.get(path.suffix, "aac")
    rate = _RATES.get(codec, soundfile.info(source).samplerate)
    av = import_module("av")
    with av.open(str(source)) as read, av.open(str(path), "w", options={"fflags": "bitexact", **options}) as written:
        stream = written.add_stream(codec, rate=rate, layout=layout)
        convert = av.AudioResampler(stream.format, layout, rate, frame_size=stream.codec_context.frame_size or 0)
        frames = [*read.decode(audio=0), None]
        for frame in (one for read_frame in frames for one in convert.resample(read_frame)):
            written.mux(stream.encode(frame))
        written.mux(stream.encode(None))
    return path


def without_decoders(patch: pytest.MonkeyPatch) -> None:
    """As if PyAV were not there."""
    patch.setitem(sys.modules, "av", None)
