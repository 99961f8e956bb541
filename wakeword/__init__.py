"""Wake word detection in a stream of audio, with models that describe themselves.

from wakeword import Detector, Microphone

with Microphone() as microphone:
    for detection in Detector("jarvis").run(microphone):
        print(detection.keyword, detection.score, detection.end)
"""

import os

import lazy_loader

# ONNX Runtime 1.31 and later send usage data to their maker unless this is set before they are first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# The names stand in __init__.pyi. Each is imported when it is first used: importing all of them takes half a second, in
# which a command could not yet react to Ctrl-C.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
