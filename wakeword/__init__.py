"""Wake word detection in a stream of audio, with models that describe themselves.

from wakeword import Detector, Microphone

with Microphone() as microphone:
    for detection in Detector("marvin").run(microphone):
        print(detection.keyword, detection.score, detection.end)
"""

import os

# ONNX Runtime 1.31 and later send usage data to their maker unless this is set before they are first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from wakeword.audio import SAMPLE_RATE
from wakeword.card import ModelCard
from wakeword.detection import Detection
from wakeword.engine import Detector
from wakeword.errors import (
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
)
from wakeword.features import FeatureConfig, MfccStream, mfcc
from wakeword.following import Follower
from wakeword.microphone.device import Device, list_devices
from wakeword.microphone.events import DeviceEvent, MicrophoneStats
from wakeword.microphone.microphone import Microphone
from wakeword.model import Model, load_model, shipped_models
from wakeword.operating_point import OperatingPoint
from wakeword.pool.pool import DetectorPool
from wakeword.pool.stream import PoolStream
from wakeword.scorer import StreamScorer
from wakeword.sources import AudioSource, FileSource, StdinSource
from wakeword.trigger import Trigger
from wakeword.verify.card import VerifierCard
from wakeword.verify.fusion import Fusion
from wakeword.version import __version__

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
    "WakewordError",
    "__version__",
    "list_devices",
    "load_model",
    "mfcc",
    "shipped_models",
]
