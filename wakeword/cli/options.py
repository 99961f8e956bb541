"""Options that several commands share, and the detector that they describe."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wakeword import Detector

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


def open_detector(
    keywords: list[str] | None,
    models: list[Path] | None,
    *,
    threshold: float | None,
    point: str | None,
    channel: int | None = None,
    provider: str = "cpu",
) -> "Detector":
    """The detector that the options describe.

    Raises ``typer.BadParameter`` if they exclude each other, ``ModelError`` and ``ConfigError`` as ``Detector`` does.
    """
    if threshold is not None and point is not None:
        raise typer.BadParameter("give --threshold or --point, not both")
    from wakeword import Detector
    from wakeword.model import load_model, read_model

    if not keywords and not models:
        keywords = [DEFAULT_KEYWORD]
    loaded = [load_model(keyword, provider=provider) for keyword in keywords or ()]
    loaded += [read_model(path, provider=provider) for path in models or ()]
    return Detector(loaded, threshold=threshold, point=point, channel=channel, provider=provider)
