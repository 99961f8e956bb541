"""The engines, the method, the exporter and the source on the page about adding work as printed."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from wakeword import Detector, FileSource
from wakeword.model.installed import assets_folder
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.engines.registry import engine_named, engine_of, english_voices
from wakeword_tools.kinds import Split
from wakeword_tools.measure.subject import HOP_SAMPLES, SubjectScorer, read_subject
from wakeword_train.config import build_config
from wakeword_train.fitting import Trainer
from wakeword_train.methods.registry import LossSettings, method_named

PAGE = (Path(__file__).parents[2] / "docs" / "adding.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's modules as an installed package, with the entry points that the page names."""
    modules = re.findall(r"```python\n# (my_package/\w+\.py)\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(modules) == 5
    (tmp_path / "my_package").mkdir()
    for name, code in modules:
        (tmp_path / name).write_text(code)
    entry_points = re.search(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert entry_points is not None
    folder = tmp_path / "my_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    plain = re.sub(r'\[project\.entry-points\."(.+)"\]', r"[\1]", entry_points.group(1)).replace('"', "")
    (folder / "entry_points.txt").write_text(plain)
    monkeypatch.syspath_prepend(str(tmp_path))
    engine_named.cache_clear()
    yield
    engine_named.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]


def test_the_engine_speaks() -> None:
    voices = english_voices(engines=["hum"])
    assert len({voice.source for voice in voices}) == len(voices) == 3
    assert [voice.split for voice in voices] == list(Split)
    assert {voice.split for voice in english_voices(engines=["hum"], split=Split.TEST)} == {Split.TEST}
    spoken = engine_of(voices[0]).speak("marvin", voices[0])
    assert (spoken.dtype, spoken.shape) == (np.dtype(np.float32), (6 * 1_600,))
    assert np.array_equal(spoken, engine_of(voices[0]).speak("marvin", voices[0]))


def test_the_command_line_speaks_with_the_engine(cli, tmp_path: Path) -> None:
    ended = cli("synth", "zorvella", "--engine", "hum", "--voices", "test", "--count", "3", "--out", tmp_path / "clips")
    assert ended.status == 0, ended.err
    lines = (tmp_path / "clips" / MANIFEST).read_text().splitlines()
    assert {json.loads(line)["split"] for line in lines} == {Split.TEST}


def test_the_method_trains() -> None:
    labels = (torch.arange(64) % 2).float()
    inputs = (2 * labels - 1)[:, None] + 0.1 * torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Flatten(0))
    method = method_named("focal")
    assert method.name == "focal"
    trainer = Trainer(network, 0.1, 0.0, 0.0, torch.Generator().manual_seed(0))
    trainer.epoch(method.loss(LossSettings(own=method.own_settings(None))), [(inputs, labels)] * 20)
    logits = network(inputs)
    settings = build_config({"keyword": "marvin", "method": "focal", "focal": {"gamma": 1}}).own
    assert settings == type(settings)(gamma=1.0)
    assert logits[labels == 1].min() > logits[labels == 0].max()


def test_the_exporter_writes(cli, tmp_path: Path) -> None:
    ended = cli("export", "marvin", tmp_path / "out", "--to", "table")
    assert (ended.status, ended.out) == (0, "3 thresholds of marvin\n"), ended.err
    assert (tmp_path / "out" / "thresholds.csv").read_text().startswith("point,threshold\nfpr=0.03,")


def test_the_wake_word_engine_is_scored(tmp_path: Path) -> None:
    (tmp_path / "word.loud").write_text("marvin")
    model = read_subject(tmp_path / "word.loud")
    assert (model.card.phrase, model.card.engine) == ("marvin", "Loud")
    (scores,) = SubjectScorer([model]).score([np.repeat(np.float32([0.25, 0.75]), HOP_SAMPLES)])
    assert scores[:3].tolist() == [0.25, 0.75, 0.0]


def test_a_word_from_the_source_is_detected() -> None:
    from my_package.network import UdpSource

    source = UdpSource()
    pcm = np.concatenate(list(FileSource(assets_folder() / "audio" / "marvin-f4.flac").blocks()))
    packets = np.array_split((pcm[:, 0] * 32_767).astype(np.int16), 60)
    for packet in [*packets, np.zeros(0, np.int16)]:
        source.socket.sendto(packet.tobytes(), source.socket.getsockname())
    assert [found.keyword for found in Detector("marvin").run(source)] == ["marvin"]
    source.socket.close()
