"""Wake word detection in a stream of audio, with models that describe themselves.

from wakeword import Detector, Microphone

with Microphone() as microphone:
    for detection in Detector("marvin").run(microphone):
        print(detection.keyword, detection.score, detection.end)
"""

import os
from importlib import import_module

# ONNX Runtime 1.31 and later send usage data to their maker unless this is set before they are first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# Type checkers read the imports. At run time each name is imported when it is first used: importing all of them takes
# half a second, in which a command could not yet react to Ctrl-C. Not from typing, which takes as long to import as this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from wakeword.audio.detection import Detection
    from wakeword.audio.end_of_speech import EndOfSpeech, VoiceDetector
    from wakeword.audio.features import FeatureConfig, MfccStream, mfcc
    from wakeword.audio.pcm import SAMPLE_RATE
    from wakeword.audio.sources import AudioSource, FileSource, StdinSource
    from wakeword.base.errors import (
        AudioDeviceError,
        AudioError,
        AudioFileError,
        AudioFormatError,
        BusyError,
        CalibrationError,
        ClosedError,
        ConfigError,
        DataError,
        ModelError,
        SynthesisError,
        WakewordError,
        WorkerError,
    )
    from wakeword.base.version import __version__
    from wakeword.engine import Detector
    from wakeword.format.card import ModelCard
    from wakeword.format.fusion import Fusion
    from wakeword.format.operating_point import OperatingPoint
    from wakeword.format.verifier_card import VerifierCard
    from wakeword.microphone.device import Device, list_devices
    from wakeword.microphone.device_events import DeviceEvent, MicrophoneStats
    from wakeword.microphone.microphone import Microphone
    from wakeword.model.installed import shipped_models
    from wakeword.model.model import Model, load_model
    from wakeword.model.scorer import StreamScorer
    from wakeword.stream.following import Follower
    from wakeword.stream.pool.pool import DetectorPool
    from wakeword.stream.pool.pool_stream import PoolStream
    from wakeword.stream.trigger import Trigger

_MODULES = {
    "wakeword.audio.pcm": "SAMPLE_RATE",
    "wakeword.format.card": "ModelCard",
    "wakeword.audio.detection": "Detection",
    "wakeword.audio.end_of_speech": "EndOfSpeech VoiceDetector",
    "wakeword.engine": "Detector",
    "wakeword.base.errors": (
        "AudioDeviceError AudioError AudioFileError AudioFormatError BusyError CalibrationError ClosedError ConfigError "
        "DataError ModelError SynthesisError WakewordError WorkerError"
    ),
    "wakeword.audio.features": "FeatureConfig MfccStream mfcc",
    "wakeword.stream.following": "Follower",
    "wakeword.microphone.device": "Device list_devices",
    "wakeword.microphone.device_events": "DeviceEvent MicrophoneStats",
    "wakeword.microphone.microphone": "Microphone",
    "wakeword.model.installed": "shipped_models",
    "wakeword.model.model": "Model load_model",
    "wakeword.format.operating_point": "OperatingPoint",
    "wakeword.stream.pool.pool": "DetectorPool",
    "wakeword.stream.pool.pool_stream": "PoolStream",
    "wakeword.model.scorer": "StreamScorer",
    "wakeword.audio.sources": "AudioSource FileSource StdinSource",
    "wakeword.stream.trigger": "Trigger",
    "wakeword.format.verifier_card": "VerifierCard",
    "wakeword.format.fusion": "Fusion",
    "wakeword.base.version": "__version__",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "SAMPLE_RATE",
    "AudioDeviceError",
    "AudioError",
    "AudioFileError",
    "AudioFormatError",
    "AudioSource",
    "BusyError",
    "CalibrationError",
    "ClosedError",
    "ConfigError",
    "DataError",
    "Detection",
    "Detector",
    "DetectorPool",
    "Device",
    "DeviceEvent",
    "EndOfSpeech",
    "FeatureConfig",
    "FileSource",
    "Follower",
    "Fusion",
    "MfccStream",
    "Microphone",
    "MicrophoneStats",
    "Model",
    "ModelCard",
    "ModelError",
    "OperatingPoint",
    "PoolStream",
    "StdinSource",
    "StreamScorer",
    "SynthesisError",
    "Trigger",
    "VerifierCard",
    "VoiceDetector",
    "WakewordError",
    "WorkerError",
    "__version__",
    "list_devices",
    "load_model",
    "mfcc",
    "shipped_models",
]


def __getattr__(name: str) -> object:
    """A public name, imported now."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
