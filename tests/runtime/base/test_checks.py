"""Every setting of the public names, with every wrong type and number: one line of the project's own error."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.builders import bursts

from wakeword import (
    AudioFileError,
    AudioFormatError,
    ConfigError,
    Detector,
    DetectorPool,
    FileSource,
    Microphone,
    Model,
    ModelError,
    OperatingPoint,
    StdinSource,
    Trigger,
    load_model,
    mfcc,
)
from wakeword.audio.audio_file import read_audio
from wakeword.format.card import DEFAULT_HOP

NOT_A_NUMBER = ("8", b"8", [8], {}, object(), 1j, True, np.zeros(2), math.nan, math.inf, -math.inf, np.float32("nan"))
NOT_WHOLE = (*NOT_A_NUMBER, None, 1.5, -1, 10**5_000)
NUMBER = (*NOT_A_NUMBER, None, -1.0, 1e300, 10**400)
NOT_TEXT = (3, 1.5, b"x", ["a"], {"a": 3}.keys(), object(), True)
NOT_A_FLAG = ("yes", 1, 0, None, 1.0, [])
NOT_A_FUNCTION = ("f", 3, [])
NOT_A_PATH = (3, 1.5, None, [], object(), True)

DETECTOR: dict[str, tuple[Any, ...]] = {
    "hop": (*NOT_WHOLE, 0),
    "refractory": NOT_WHOLE,
    "pre_roll": NUMBER,
    "point": NOT_TEXT,
    "threshold": tuple(value for value in NUMBER if not isinstance(value, (dict, type(None)))),
    "provider": (*NOT_TEXT, None, "gpu", ""),
    "gate": NOT_A_FLAG,
    "verify": NOT_A_FLAG,
}
STREAM: dict[str, tuple[Any, ...]] = {
    "sample_rate": (*NOT_WHOLE, 0, 16_000.5, 7_999, 192_001),
    "channel": tuple(value for value in NOT_WHOLE if value is not None),
}
POINT: dict[str, Any] = {
    "name": "fpr=0.1",
    "kind": "fpr",
    "target": 0.1,
    "threshold": 0.5,
    "recall": 1.0,
    "recall_low": 1.0,
    "recall_high": 1.0,
    "data": "",
}
SETTINGS: dict[str, tuple[Callable[..., Any], dict[str, tuple[Any, ...]]]] = {
    "Detector": (lambda m, **o: Detector(m, **o), {**DETECTOR, **STREAM, "on_detection": NOT_A_FUNCTION}),
    "DetectorPool": (
        lambda m, **o: DetectorPool(m, **o),
        {**DETECTOR, "batch": (*NOT_WHOLE, 0), "max_waiting": (*NUMBER, 0)},
    ),
    "DetectorPool.open": (lambda m, **o: DetectorPool(m).open(**o), {**STREAM, "name": (3, b"x", [])}),
    "Microphone": (
        lambda m, **o: Microphone(**o),
        {
            "device": (1.5, b"x", [], True),
            "channels": (*NOT_WHOLE, 0, 1_025),
            "block_seconds": (*NUMBER, 0),
            "max_seconds": (*NUMBER, 0),
            "watchdog": (*NUMBER, 0),
            "reconnect": NOT_A_FLAG,
            "on_event": NOT_A_FUNCTION,
        },
    ),
    "StdinSource": (
        lambda m, **o: StdinSource(**{"stream": open(__file__, "rb"), **o}),  # noqa: PTH123, SIM115
        {"sample_rate": STREAM["sample_rate"], "channels": (*NOT_WHOLE, 0, 1_025, 10**9), "stream": (3, "x", b"x")},
    ),
    "Trigger": (
        lambda m, **o: Trigger(**{"threshold": 0.5, **o}),
        {"threshold": (*NUMBER, 0, 1.1), "refractory": NOT_WHOLE, "hop": (*NOT_WHOLE, 0)},
    ),
    "OperatingPoint": (
        lambda m, **o: OperatingPoint(**{**POINT, **o}),
        dict.fromkeys(("threshold", "target", "recall", "positives"), (*NUMBER, -0.1, 10000000000.0)),
    ),
    "load_model": (lambda m, **o: load_model(**{"name": "marvin", **o}), {"name": NOT_A_PATH, "provider": NOT_TEXT}),
    "FileSource": (lambda m, **o: FileSource(**o), {"path": NOT_A_PATH}),
    "read_audio": (lambda m, **o: read_audio(**o), {"path": NOT_A_PATH}),
    "Detector.record": (
        lambda m, **o: record(m, **o),
        {"seconds": (*NUMBER, 0), "until": NOT_A_FUNCTION, "detection": (3, None, "x")},
    ),
    "Detector.suppressed": (
        lambda m, **o: Detector(m).suppressed(**o).__enter__(),
        {"threshold": ("0.5", -0.1, math.nan, [], True, 1j)},
    ),
    "PoolStream.suppressed": (
        lambda m, **o: DetectorPool(m).open().suppressed(**o).__enter__(),
        {"threshold": ("0.5", -0.1, math.nan, [], True, 1j)},
    ),
}


class Word:
    sample_rate = 16_000

    def blocks(self) -> Iterator[np.ndarray]:
        yield bursts(3, {1.0: "low"})


def record(model: Model, **options: Any) -> None:
    detector = Detector(model)
    for hit in detector.run(Word()):
        detector.record(**{"detection": hit, "seconds": 1.0, **options})


@pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name, (_, settings) in SETTINGS.items() for setting in settings]
)
def test_a_wrong_setting_is_refused_in_one_line(low_model: Model, name: str, setting: str) -> None:
    make, settings = SETTINGS[name]
    for wrong in settings[setting]:
        try:
            made = make(low_model, **{setting: wrong})
        except (ConfigError, AudioFormatError, ModelError, AudioFileError) as error:
            message = str(error)
            assert "\n" not in message
            assert len(message) < 400
            assert "expected" in message or "must be" in message, message
        else:
            pytest.fail(f"{name}({setting}={wrong!r}) was taken: {made!r}")


BLOCKS = {
    "list": [0.0, 0.1],
    "None": None,
    "bytes": b"\0\0",
    "masked floats": np.ma.array(np.zeros(10, np.float32), mask=[True] * 10),
    "masked integers": np.ma.array(np.zeros(10, np.int16)),
    "matrix": np.zeros((10, 1), np.float32).view(np.matrix),
    "float64": np.zeros(10),
    "complex": np.zeros(10, np.complex64),
    "objects": np.array([1, "a"], object),
    "text": np.array(["a"]),
    "scalar": np.float32(0),
    "no dimension": np.array(0.0, np.float32),
    "three dimensions": np.zeros((2, 2, 2), np.float32),
    "records": np.zeros(3, [("x", np.int16)]),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_what_is_no_block_of_samples_is_refused(low_model: Model, kind: str) -> None:
    block: Any = BLOCKS[kind]
    detector, stream = Detector(low_model), DetectorPool(low_model).open()
    pushes: list[Callable[..., Any]] = [detector.push, stream.push]
    if kind != "masked floats":
        pushes.append(mfcc)
    for seconds in (0.0, 0.01):  # also after the first block, which sets a shorter way
        for push in pushes:
            with pytest.raises(AudioFormatError, match="expected"):
                push(block)
        assert (detector.seconds, stream.seconds) == (seconds, seconds)
        detector.push(np.zeros(160, np.int16))
        stream.push(np.zeros(160, np.int16))


def test_bytes_are_counted_whatever_the_elements_of_a_view(low_model: Model) -> None:
    pcm = np.arange(-500, 500, dtype="<i2")
    detector = Detector(low_model)
    for audio in (pcm.tobytes(), bytearray(pcm.tobytes()), memoryview(pcm), memoryview(pcm.astype("<i4"))):
        detector.process_streaming(audio)
    assert detector.seconds == 5_000 / 16_000
    with pytest.raises(AudioFormatError, match="got 3 bytes"):
        detector.process_streaming(memoryview(b"abc"))
    with pytest.raises(AudioFormatError, match="with gaps"):
        detector.process_streaming(memoryview(pcm)[::2])
    for wrong in ("ab", None, 3, pcm):
        with pytest.raises(AudioFormatError, match="expected bytes"):
            detector.process_streaming(wrong)


def test_numbers_of_numpy_are_numbers(low_model: Model) -> None:
    settings = {
        "hop": np.int64(DEFAULT_HOP),
        "refractory": np.int32(100),
        "pre_roll": np.float32(0.5),
        "threshold": np.float64(0.5),
    }
    signal = bursts(3, {1.0: "low"})
    found = Detector(low_model, sample_rate=np.int64(16_000), **settings).push(signal)
    assert found == Detector(low_model, threshold=0.5).push(signal)
    assert len(found) == 1
