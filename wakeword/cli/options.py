"""Options that several commands share, and the detector that they describe."""

import math
from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio import SAMPLE_RATE
from wakeword.engine import Detector
from wakeword.features import FeatureConfig
from wakeword.model import load_model, read_model
from wakeword.trigger import DEFAULT_REFRACTORY

DEFAULT_KEYWORD = "marvin"

KeywordOption = Annotated[
    list[str] | None,
    typer.Option("--keyword", metavar="K", help=f"A shipped keyword; repeatable. Default: {DEFAULT_KEYWORD}."),
]
ModelOption = Annotated[
    list[Path] | None, typer.Option("--model", metavar="FILE", help="A model file (.onnx); repeatable.")
]
ThresholdOption = Annotated[
    float | None, typer.Option("--threshold", metavar="X", help="Report scores from X (0..1) on.")
]
PointOption = Annotated[
    str | None,
    typer.Option("--point", metavar="NAME", help="Use this operating point; `wakeword info` lists a model's."),
]
DeviceOption = Annotated[
    str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
]


def number_or_name(device: str | None) -> int | str | None:
    """What ``--device`` was given, as ``Microphone`` takes it."""
    return int(device) if device is not None and device.isdecimal() else device


def finite(value: float) -> float:
    """The value of an option. Raises ``typer.BadParameter`` for infinity and for what is not a number."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"expected a number, got {value}")
    return value


def open_detector(
    keywords: list[str] | None,
    models: list[Path] | None,
    *,
    threshold: float | None,
    point: str | None,
    channel: int | None = None,
    min_gap: float | None = None,
    pre_roll: float = 0.5,
    provider: str = "cpu",
) -> Detector:
    """The detector that the options describe; ``min_gap`` and ``pre_roll`` in seconds.

    Raises ``typer.BadParameter`` if they exclude each other, ``ModelError`` and ``ConfigError`` as ``Detector`` does.
    """
    if threshold is not None and point is not None:
        raise typer.BadParameter("give --threshold or --point, not both")
    if not keywords and not models:
        keywords = [DEFAULT_KEYWORD]
    loaded = [load_model(keyword, provider=provider) for keyword in keywords or ()]
    loaded += [read_model(path, provider=provider) for path in models or ()]
    # Rounded first, so that 0.07 s are 7 frames and not the 8 that floating point makes of them.
    frames_in = SAMPLE_RATE / FeatureConfig().hop_length
    return Detector(
        loaded,
        threshold=threshold,
        point=point,
        channel=channel,
        refractory=DEFAULT_REFRACTORY if min_gap is None else math.ceil(round(min_gap * frames_in, 6)),
        pre_roll=pre_roll,
        provider=provider,
    )
