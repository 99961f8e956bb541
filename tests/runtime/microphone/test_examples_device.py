"""The examples with a microphone."""

import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import soundfile
from support.virtual_microphone import ROOT, VirtualMicrophone

from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE

EXAMPLES = {"assistant.py": [], "asyncio_listener.py": [], "two_keywords.py": ["jarvis"], "robot_loop.py": []}
DEMO = ROOT / "assets" / "audio" / "sentences.flac"


def test_each_detects_the_wake_word_and_ends_with_ctrl_c(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    demo = read_audio(DEMO)
    first = max(Detector("jarvis").push(demo), key=lambda found: found.score)
    word = demo[round((first.start - 0.3) * SAMPLE_RATE) : round((first.end + 0.3) * SAMPLE_RATE)]
    soundfile.write(tmp_path / "word.wav", np.concatenate([np.zeros(8_000), word, np.zeros(8_000)]), SAMPLE_RATE)
    with ExitStack() as stack:
        listening = {}
        for name, arguments in EXAMPLES.items():
            printed = stack.enter_context((tmp_path / f"{name}.txt").open("w+"))
            command = [sys.executable, ROOT / "examples" / name, *arguments]
            process = subprocess.Popen(command, env=microphone.environment, stdout=printed, stderr=subprocess.STDOUT)
            listening[name] = process
            stack.enter_context(process)
            stack.callback(process.kill)
        deadline = time.monotonic() + 30
        # They do not report when they begin to listen: the word is played until all have reported it.
        while not all(": jarvis" in (tmp_path / f"{name}.txt").read_text() for name in listening):
            assert time.monotonic() < deadline, "not detected by all"
            microphone.play(tmp_path / "word.wav")
        for process in listening.values():
            process.send_signal(signal.SIGINT)
        for name, process in listening.items():
            assert process.wait(timeout=5) == 0, name
            assert "Traceback" not in (tmp_path / f"{name}.txt").read_text()
