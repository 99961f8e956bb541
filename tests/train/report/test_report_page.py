"""The page about a model: plain words; it holds all it shows, and its commands run."""

import dataclasses
import html
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import typer
from support.reported import card, second_stage
from support.small_world import SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword.cli.app import COMMANDS
from wakeword.format.operating_point import Rate
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import read_model
from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders, TrainingResult, train_model
from wakeword_train.data.clips import Clip
from wakeword_train.report.report_html import heard_clips, page
from wakeword_train.training_run import EpochReport


class Nesting(HTMLParser):
    """Fails where an element is closed that is not the innermost open one."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "one.wav"
    soundfile.write(path, np.full(1_600, 0.1), 16_000)
    return path


def judged_page(sound: Path, *, model: str = "hey b.onnx") -> str:
    """The page of a model that misses one of four clips; its card says the same."""
    point = dataclasses.replace(
        card(0.75, 1.0).operating_points[0], positives=4, synthetic=4, fpr_negatives=Rate(0.01, 0, 1, 3, 300)
    )
    clips = [("hey", "e:ann", 3.0), ("hey", "e:bo", 2.0), ("hey", "e:bo", -2.0), ("[[h'eI]]", "e:<i>cy</i>", 1.0)]
    close = [("[[@T'i:t@]]", "e:ann", 4.0), ("hay", "e:bo", 2.0), ("<u>bay</u>", "e:bo", 1.0), ("low", "e:bo", -4.0)]
    second = second_stage(
        {Kind.POSITIVE: clips, Kind.NEAR_NEGATIVE: close}, sound, noisy={Kind.POSITIVE: [*clips[1:3], clips[2]]}
    )
    spoken = [Clip(sound, Kind.POSITIVE, "hey", "e:<i>voice</i>", Split.TRAIN, synthetic=True)]
    reports = [EpochReport(1, "warm-up", 0.2, {"words": share}, share, None, 1.0, False) for share in (0.5, 0.9)]
    marked = dataclasses.replace(card(0.75, 1.0), operating_points=(point,))
    return page(marked, TrainingResult(sound, spoken, [], reports, second), model=model)


def test_the_page_counts_what_is_found_missed_and_wakes_it_by_mistake(sound: Path) -> None:
    made = judged_page(sound)
    assert "It found <b>3 of 4 recordings</b> by synthetic voices that it never heard." in made
    assert "It found <b>1 of 3 recordings</b> in noise" in made
    assert "1 of 4 recordings, by these voices" in made
    assert "<li>voice e:bo: 1 of 2 missed <audio" in made
    assert "Talk of other people: it woke once in 2.0 hours." in made
    assert "Recordings of other words: 3 of 300 woke it." in made
    assert [made.count(word) for word in ("<li>hay ", "<li>&lt;u&gt;bay", "<li>low ")] == [1, 1, 0]


def test_words_that_people_say_stand_before_invented_ones(sound: Path) -> None:
    made = judged_page(sound)
    assert made.index("<li>hay ") < made.index("<li>&lt;u&gt;bay") < made.index("sounds like “atheeta”")


def test_no_phonemes_are_shown_but_what_they_sound_like(sound: Path) -> None:
    made = judged_page(sound)
    assert "sounds like “atheeta” <audio" in made
    assert "[[" not in made


def test_the_page_has_plain_words_alone(sound: Path) -> None:
    made = judged_page(sound)
    for word in ("threshold", "epoch", "<svg", "recall", "fa_per_hour", "first stage"):
        assert word not in re.sub("<style>.*?</style>", "", made, flags=re.DOTALL)
    assert made.index("What it hears") < made.index("What it misses") < made.index("What to do next")
    assert made.endswith("</body></html>\n")


def test_every_command_of_the_page_is_one_that_the_command_line_takes(sound: Path) -> None:
    blocks = re.findall("<pre><code>(.*?)</code></pre>", judged_page(sound), flags=re.DOTALL)
    lines = [line for block in blocks for line in html.unescape(block).splitlines()]
    names = []
    for line in lines:
        program, name, *arguments = shlex.split(line)
        assert program == "wakeword"
        alone = typer.Typer()
        alone.command()(COMMANDS[name].load())
        typer.main.get_command(alone).make_context(name, arguments)
        names.append(name)
    assert names == ["listen", *("record", "train"), "check", *("listen", "review", "train")]


def test_a_page_loads_nothing_and_escapes_what_it_is_told(sound: Path) -> None:
    made = judged_page(sound, model="<script>.onnx")
    assert "<script" not in made
    assert "<i>" not in made
    assert "<u>" not in made
    assert "hey &lt;b&gt;" in made
    assert made.count("data:audio/flac;base64,") == 4
    assert not re.search(r'(?:src|href)="(?!data:)', made)
    assert "default-src 'none'" in made
    nesting = Nesting()
    nesting.feed(made)
    assert nesting.open == []


def test_a_page_without_points_or_a_second_stage_says_what_is_known(sound: Path) -> None:
    made = page(card(0.9, None), TrainingResult(sound, [], [], []), model="m.onnx")
    assert "90 of 100 recordings" in made
    assert "not measured" in made
    assert "What it misses" not in made
    nothing = dataclasses.replace(card(0.9, None), operating_points=(), default_point=None)
    assert "What to do next" in page(nothing, TrainingResult(sound, [], [], []), model="m.onnx")


def test_the_page_of_a_run_shows_the_close_words_that_fire(tmp_path: Path) -> None:
    world = write_world(tmp_path / "world", speakers=24)
    folders = DataFolders(
        speech_commands=world, near_negatives=[world / "downup"], background=[write_background(tmp_path / "long")]
    )
    config = small_config(method="bce", second_stage=SMALL_SECOND_STAGE)
    result = train_model(config, folders, tmp_path / "m.onnx", work=tmp_path)
    assert result.second_stage is not None
    heard = result.second_stage.held_out
    assert [len(heard.clips[kind]) for kind in heard.evidence] == [len(some) for some in heard.evidence.values()]
    # So few clips support no operating point; at this one nearly everything fires.
    point = dataclasses.replace(card(0.9, 0.5).operating_points[0], threshold=2 * FLOOR)
    trained = dataclasses.replace(
        read_model(tmp_path / "m.onnx").card, operating_points=(point,), default_point=point.name
    )
    made = page(trained, result, model="m.onnx")
    close = heard_clips(result.second_stage.card, result.second_stage.held_out, Kind.NEAR_NEGATIVE)
    assert close == sorted(close, key=lambda one: -one[1])
    assert {clip.word for clip, _ in close} == {"downup"}
    assert "<li>downup <audio" in made
