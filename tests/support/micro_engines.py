"""Runs a microWakeWord model in the interpreters of others, each in a process of its own: one may end it."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

LITE, MICRO = "pymicro_wakeword", "tflite_micro"
"""The library that computers load, and the interpreter of the ESP32."""

_RUN = {
    LITE: """
import ctypes, sys
import numpy as np
from pathlib import Path
import pymicro_wakeword
library = next((Path(pymicro_wakeword.__file__).parent / "lib").glob("*tensorflowlite_c*"))
model = pymicro_wakeword.MicroWakeWord("word", wake_word="word", tflite_model=sys.argv[1], probability_cutoff=0.9,
    sliding_window_size=1, trained_languages=[], libtensorflowlite_c_path=library)
assert model.stride == 3 and model.input_dtype == np.int8 and model.output_dtype == np.uint8
frames = np.load(sys.argv[2]).astype(np.float64) * model.input_scale
found = [model.process_streaming_prob(frame[None, None]) for frame in frames][2::3]
np.save(sys.argv[3], np.rint(np.array(found) * 256).astype(np.uint8))
""",
    MICRO: """
import sys
import numpy as np
from tflite_micro import runtime
interpreter = runtime.Interpreter.from_bytes(open(sys.argv[1], "rb").read(), arena_size=int(sys.argv[4]))
frames = (np.load(sys.argv[2]).astype(np.int16) - 128).astype(np.int8)
found = []
for step in frames[: len(frames) // 3 * 3].reshape(-1, 3, 40):
    interpreter.set_input(step[None], 0)
    interpreter.invoke()
    found.append(int(interpreter.get_output(0)[0, 0]))
np.save(sys.argv[3], np.array(found, np.uint8))
""",
}


def require_engine(engine: str) -> None:
    """Skip the test where a package is missing."""
    if find_spec(engine) is None:
        pytest.skip(f"needs {engine.replace('_', '-')}, which runs such files")


def outputs_in(engine: str, model: Path, frames: np.ndarray, folder: Path, *, arena: int = 65_000) -> np.ndarray:
    """The output of each step for features ``(frames, 40)`` uint8, ``(frames // 3,)``. Fails if the process does."""
    given, found = folder / "frames.npy", folder / f"{engine}.npy"
    np.save(given, frames)
    line = [sys.executable, "-c", _RUN[engine], str(model), str(given), str(found), str(arena)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{engine} ended with {done.returncode}: {done.stderr[-500:]}")
    outputs: np.ndarray = np.load(found)
    return outputs
