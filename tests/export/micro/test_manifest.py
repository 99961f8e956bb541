"""The JSON next to a microWakeWord model: its cutoff is the one that was chosen, in every engine."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.micro_nets import random_net

from wakeword_export.micro.device_files import manifest
from wakeword_export.micro.mixed_net import MICRO_WINDOW
from wakeword_export.micro.mixed_net_file import micro_tflite_bytes


def test_the_cutoff_is_kept() -> None:
    for cutoff in range(1, 255):
        probability = manifest("a word", "word.tflite", cutoff=cutoff, language="en", arena=9)["micro"][
            "probability_cutoff"
        ]
        assert 0 < probability < 1
        # As ESPHome's generated code has it.
        assert int(probability * 255) == cutoff
        # pymicro-wakeword compares the mean of output / 256.
        least = next(total for total in range(255 * MICRO_WINDOW + 1) if total / (256 * MICRO_WINDOW) > probability)
        assert cutoff * MICRO_WINDOW < least <= (cutoff + 1) * MICRO_WINDOW


CONFIGURATION = """\
esphome: {name: satellite}
esp32: {board: esp32-s3-devkitc-1, variant: esp32s3, flash_size: 16MB, framework: {type: esp-idf}}
psram: {mode: octal, speed: 80MHz}
i2s_audio: {i2s_lrclk_pin: GPIO7, i2s_bclk_pin: GPIO8}
microphone: [{platform: i2s_audio, id: mic, adc_type: external, i2s_din_pin: GPIO15}]
micro_wake_word: {microphone: mic, models: [{model: word.json}]}
"""


def test_esphome_accepts_it(tmp_path: Path) -> None:
    esphome = shutil.which("esphome")
    if esphome is None:
        pytest.skip("needs esphome, which checks the JSON")

    def checked(content: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        (tmp_path / "word.json").write_text(json.dumps(content))
        line = [esphome, "config", str(tmp_path / "satellite.yaml")]
        return subprocess.run(line, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    (tmp_path / "satellite.yaml").write_text(CONFIGURATION)
    (tmp_path / "word.tflite").write_bytes(micro_tflite_bytes(random_net(), description="a word"))
    content = manifest("hey zorvella", "word.tflite", cutoff=240, language="de", arena=24_000)
    done = checked(content)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Configuration is valid" in done.stdout + done.stderr
    assert checked(content | {"unknown": 1}).returncode
