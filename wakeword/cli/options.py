"""Options that several commands share, and the detector that they describe."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from wakeword.audio.detection import Keeps
from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.cli.ranges import model_names, number_option, option, separate
from wakeword.cli.voice_command import voices_of
from wakeword.engine import Detector
from wakeword.format.point_warnings import warnings_of
from wakeword.model.installed import model_file
from wakeword.model.model import Model, load_model, read_model, read_model_bytes
from wakeword.stream.trigger import DEFAULT_REFRACTORY, MAX_MIN_GAP
from wakeword.verify.known_voices import Voices

DEFAULT_KEYWORD = "jarvis"


def _files(models: list[Path] | None) -> list[Path] | None:
    """The value of ``--model``: a name is understood too where there is no such file."""
    return models and [one if one.is_file() else model_file(one) for one in models]


def language_option(text: str) -> Any:
    """The option ``--language``; ``text``: what is in that language."""
    return option("--language", f"{text}, as de, ar or zh; default en.", "CODE")


def keyword_option(text: str) -> Any:
    """The option ``--keyword`` for names of models."""
    return typer.Option("--keyword", metavar="K", autocompletion=model_names, callback=separate, help=text)


MODEL_HELP = "A model that `wakeword models` lists, or a model file."
JsonOption = Annotated[bool, option("--json", "Print JSON.")]
ModelOption = Annotated[list[Path] | None, option("--model", "A model file (.onnx); repeatable.", "FILE", _files)]
_PointOption = Annotated[
    str | None, option("--point", "Use this operating point; `wakeword info` lists a model's.", "NAME")
]
VerifyOption = Annotated[
    bool, option("--verify/--no-verify", "Use the second stage of models that have one, or the first one alone.")
]
DeviceOption = Annotated[str | None, option("--device", "Input device: its number or a part of its name.", "NAME|N")]
MinGapOption = Annotated[
    float, number_option("--min-gap", "SECONDS", 0, MAX_MIN_GAP, "Report a keyword again only after this time.")
]


def number_or_name(device: str | None) -> int | str | None:
    """The value of ``--device`` as ``Microphone`` expects it."""
    return int(device) if device is not None and device.isdecimal() else device


def refractory_frames(min_gap: float) -> int:
    """The value of ``--min-gap``, in seconds, as a detector expects it."""
    # Rounded first, so that 0.07 s are 7 frames and not 8 because of floating-point error.
    return math.ceil(round(min_gap * SAMPLE_RATE / FeatureConfig().hop_length, 6))


@dataclass(frozen=True)
class ModelOptions:
    """Which models are used."""

    keyword: Annotated[
        list[str] | None,
        keyword_option(f"A model that `wakeword models` lists; repeatable. Default: {DEFAULT_KEYWORD}."),
    ] = None
    model: ModelOption = None
    say: Annotated[
        list[str] | None, option("--say", "Any word: made from its text in seconds; repeatable.", "TEXT")
    ] = None
    language: Annotated[str | None, language_option("Of the words of --say")] = None

    def __post_init__(self) -> None:
        if self.language is not None and not self.say:
            raise typer.BadParameter("--language says how to read --say, which is missing")

    @property
    def names(self) -> list[str]:
        """Names of included or installed models, as they are given or by default."""
        return self.keyword or ([] if self.model or self.say else [DEFAULT_KEYWORD])

    @cached_property
    def files(self) -> list[Path]:
        """Model files; the ones of words are made where they are not there yet."""
        # Imported here: it imports the commands.
        from wakeword.cli.app import CROSS_PACKAGE

        made = [CROSS_PACKAGE["model_of_text"].load()(text, self.language) for text in self.say or ()]
        return [*(self.model or ()), *made]

    def loaded(self, provider: str = "cpu") -> list[Model]:
        """The models. Raises ``ModelError`` if one cannot be used."""
        named = [load_model(keyword, provider=provider) for keyword in self.names]
        return [*named, *(read_model(path, provider=provider) for path in self.files)]

    def contents(self) -> list[bytes]:
        """The bytes of the models' files, unchecked. Raises ``ModelError`` if one cannot be read."""
        return [read_model_bytes(file) for file in (*map(model_file, self.names), *self.files)]


@dataclass(frozen=True)
class PointOptions:
    """At which scores a word is reported: without a threshold and a point at the default point of each model."""

    threshold: Annotated[
        float | None, number_option("--threshold", "X", 0, 1, "Report scores of at least X (0..1).")
    ] = None
    point: _PointOption = None
    verify: VerifyOption = True

    def __post_init__(self) -> None:
        if self.threshold is not None and self.point is not None:
            raise typer.BadParameter("give --threshold or --point, not both")


@dataclass(frozen=True)
class VoicePointOptions(PointOptions):
    """``PointOptions``, and which voices move the thresholds."""

    voice: Annotated[
        list[str] | None,
        option("--voice", "A voice of `wakeword voice`, found at lower scores than others; repeatable.", "NAME"),
    ] = None
    only: Annotated[
        list[str] | None, option("--only", "Report this voice alone, and miss some of its words; repeatable.", "NAME")
    ] = None

    @cached_property
    def voices(self) -> Voices | None:
        """The voices that are known; ``None`` without the options. Raises as ``voices_of`` does, and ``ModelError``."""
        return voices_of(self.voice, self.only)


def open_detector(
    models: ModelOptions,
    points: VoicePointOptions,
    *,
    channel: int | None = None,
    refractory: int = DEFAULT_REFRACTORY,
    pre_roll: float = 0.5,
    provider: str = "cpu",
    keep: Keeps | None = None,
) -> tuple[Detector, list[str]]:
    """The detector, and warnings about its operating points. Raises ``ModelError`` and ``ConfigError`` as it does."""
    loaded = models.loaded(provider)
    detector = Detector(
        loaded,
        threshold=points.threshold,
        point=points.point,
        channel=channel,
        refractory=refractory,
        pre_roll=pre_roll,
        provider=provider,
        verify=points.verify,
        keep=keep,
        voices=points.voices,
    )
    # A threshold of the user's own promises nothing.
    used = [model if points.verify else model.stage_one() for model in loaded]
    cards = [model.card for model in used if points.threshold is None]
    return detector, warnings_of((card.phrase, card.point(points.point)) for card in cards)
