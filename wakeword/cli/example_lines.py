"""A line that runs for each command: the end of its help, and of the answer to a line that could not be read."""

from typing import Final

EXAMPLES: Final = {
    "listen": "wakeword listen --keyword jarvis",
    "scan": "wakeword scan --keyword jarvis talk.wav",
    "models": "wakeword models install zorvella.onnx",
    "info": "wakeword info jarvis",
    "check": 'wakeword check "hey zorvella"',
    "train": 'wakeword train "hey zorvella"',
    "record": 'wakeword record "hey zorvella" --out takes',
    "voice": "wakeword voice enrol me --takes my_clips/",
    "review": "wakeword review saved",
    "voices": "wakeword voices install kokoro",
    "synth": 'wakeword synth "hey zorvella" --out clips',
    "calibrate": "wakeword calibrate --model zorvella.onnx --positives takes --negatives no",
    "evaluate": "wakeword evaluate --keyword jarvis --positives takes --negatives no",
    "compare": "wakeword compare jarvis better.onnx --positives takes --background talk.wav",
    "serve": "wakeword serve --keyword jarvis --uri tcp://0.0.0.0:10400",
    "web": "wakeword web --port 9000",
    "devices": "wakeword devices",
    "doctor": "wakeword doctor --seconds 10",
    "export": "wakeword export jarvis --to openwakeword jarvis-files",
}
"""Command -> the line."""
