"""Options that several commands share, and the detector that they describe."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio.detection import Detection
from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.cli.completion import model_names, point_names
from wakeword.cli.ranges import finite
from wakeword.engine import Detector
from wakeword.format.point_warnings import warnings_of
from wakeword.model.installed import model_file
from wakeword.model.model import load_model, read_model, read_model_bytes
from wakeword.stream.trigger import DEFAULT_REFRACTORY

DEFAULT_KEYWORD = "marvin"

KeywordOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keyword",
        metavar="K",
        autocompletion=model_names,
        help=f"A model that `wakeword models` lists; repeatable. Default: {DEFAULT_KEYWORD}.",
    ),
]
ModelOption = Annotated[
    list[Path] | None, typer.Option("--model", metavar="FILE", help="A model file (.onnx); repeatable.")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option("--threshold", metavar="X", min=0, max=1, callback=finite, help="Report scores of at least X (0..1)."),
]
PointOption = Annotated[
    str | None,
    typer.Option(
        "--point",
        metavar="NAME",
        autocompletion=point_names,
        help="Use this operating point; `wakeword info` lists a model's.",
    ),
]
VerifyOption = Annotated[
    bool,
    typer.Option("--verify/--no-verify", help="Use the second stage of models that have one, or the first one alone."),
]
DeviceOption = Annotated[
    str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
]


def number_or_name(device: str | None) -> int | str | None:
    """The value of ``--device`` as ``Microphone`` expects it."""
    return int(device) if device is not None and device.isdecimal() else device


def refractory_frames(min_gap: float) -> int:
    """The value of ``--min-gap``, in seconds, as a detector expects it."""
    # Rounded first, so that 0.07 s are 7 frames and not 8 because of floating-point error.
    return math.ceil(round(min_gap * SAMPLE_RATE / FeatureConfig().hop_length, 6))


@dataclass(frozen=True)
class DetectorSettings:
    """What to detect, and how."""

    keywords: list[str] | None
    """Names of models, included or installed; without these and ``models`` the default keyword."""
    models: list[Path] | None
    threshold: float | None
    point: str | None
    """Name of an operating point. Without it and ``threshold`` the model's default one."""
    channel: int | None = None
    """The channel to use; ``None``: the mean of all."""
    min_gap: float | None = None
    """Seconds between two detections of a keyword."""
    pre_roll: float = 0.5
    """Seconds of audio from before the word in a detection."""
    provider: str = "cpu"
    verify: bool = True
    """Whether models of two stages use the second one."""

    @property
    def chosen_keywords(self) -> list[str]:
        """Names of models, as they are given or by default."""
        return self.keywords or ([] if self.models else [DEFAULT_KEYWORD])

    def model_bytes(self) -> list[bytes]:
        """The bytes of the model files, unchecked. Raises ``ModelError`` if one cannot be read."""
        files = [*map(model_file, self.chosen_keywords), *(self.models or [])]
        return [read_model_bytes(file) for file in files]


def open_detector(
    settings: DetectorSettings, *, on_near_miss: Callable[[Detection], None] | None = None
) -> tuple[Detector, list[str]]:
    """The detector that the settings describe, and warnings about its operating points.

    Raises ``typer.BadParameter`` if they contradict each other, ``ModelError`` and ``ConfigError`` as ``Detector`` does.
    """
    if settings.threshold is not None and settings.point is not None:
        raise typer.BadParameter("give --threshold or --point, not both")
    min_gap = settings.min_gap
    loaded = [load_model(keyword, provider=settings.provider) for keyword in settings.chosen_keywords]
    loaded += [read_model(path, provider=settings.provider) for path in settings.models or []]
    detector = Detector(
        loaded,
        threshold=settings.threshold,
        point=settings.point,
        channel=settings.channel,
        refractory=DEFAULT_REFRACTORY if min_gap is None else refractory_frames(min_gap),
        pre_roll=settings.pre_roll,
        on_near_miss=on_near_miss,
        provider=settings.provider,
        verify=settings.verify,
    )
    # A threshold of the user's own promises nothing.
    used = [model if settings.verify else model.stage_one() for model in loaded]
    cards = [model.card for model in used if settings.threshold is None]
    return detector, warnings_of((card.phrase, card.point(settings.point)) for card in cards)
