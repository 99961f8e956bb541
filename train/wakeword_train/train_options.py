"""The options of ``wakeword train``."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.plugins import require
from wakeword.cli.job_options import JobsOption, RayOption
from wakeword.cli.options import language_option
from wakeword.cli.ranges import MAX_SEED, number_option, option
from wakeword_tools.cli.measure_options import kind_option
from wakeword_tools.kinds import Kind


class _Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


_BASE = option(
    "--from", "Fine-tune a shipped keyword's model, or a file, on your own 5 to 20 recordings (--positives).", "MODEL"
)
_METHOD = option("--method", "drocc-lf, drocc-oe, bce, drocc, or a package's own.", "M")
_SAVED = option(
    "--extend-negatives", "False accepts saved by evaluate --save-errors, to train against; repeatable.", "DIR"
)
_SPEECH = option("--data", "Speech Commands: a folder for each word.", "DIR")
_REPORT = option("--report/--no-report", "Write a page about the model beside it (.html).")
_WORK = option("--work", "For synthesised clips.", "DIR")


_ALSO = option("--also", "Another phrase that wakes it too; repeatable.", "PHRASE")
_SAY = option("--say", "How the word is said, as 'ˈmɑɹvɪn'; repeatable.", "IPA")
_ANYWAY = option("--anyway", "Train a word that `wakeword check` finds poor.")
_NOW = option("--now", "Make a model from the text in seconds, without training: it costs more CPU.")
_VOICES = option("--install-voices/--no-install-voices", "Where there are no natural voices, fetch some (120 MB).")
_FOR = option("--for", "Then train a network for it too: microwakeword.", "ENGINE")


@dataclass(frozen=True)
class TrainOptions:
    """Train a model for a keyword, calibrate it, and write it to one file.

    `wakeword train "hey zorvella"` is enough: speech is synthesised, and the package brings speech of others.
    """

    word: Annotated[str, typer.Argument(metavar="WORD", help="The wake word; of several, in quotes.")] = ""
    language: Annotated[str | None, language_option("Of the word")] = None
    also: Annotated[list[str] | None, _ALSO] = None
    say: Annotated[list[str] | None, _SAY] = None
    anyway: Annotated[bool, _ANYWAY] = False
    now: Annotated[bool, _NOW] = False
    install_voices: Annotated[bool, _VOICES] = True
    data: Annotated[Path | None, _SPEECH] = None
    positives: Annotated[list[Path] | None, kind_option(Kind.POSITIVE, folders=True)] = None
    negatives: Annotated[list[Path] | None, kind_option(Kind.NEGATIVE, folders=True)] = None
    near_negatives: Annotated[list[Path] | None, kind_option(Kind.NEAR_NEGATIVE, folders=True)] = None
    extend_negatives: Annotated[list[Path] | None, _SAVED] = None
    background: Annotated[list[Path] | None, kind_option(Kind.BACKGROUND, folders=True)] = None
    noise: Annotated[list[Path] | None, kind_option(Kind.NOISE, folders=True)] = None
    config: Annotated[Path | None, option("--config", "Settings (TOML).", "FILE")] = None
    method: Annotated[str | None, _METHOD] = None
    base: Annotated[str | None, _BASE] = None
    out: Annotated[Path | None, option("--out", "Default: KEYWORD.onnx.", "FILE")] = None
    device: Annotated[_Device, typer.Option("--device")] = _Device.CPU
    seed: Annotated[int | None, number_option("--seed", "N", 0, MAX_SEED, "Random seed.")] = None
    work: Annotated[Path, _WORK] = Path("runs")
    report: Annotated[bool, _REPORT] = True
    engine: Annotated[str | None, _FOR] = None
    jobs: JobsOption = None
    ray: RayOption = None

    def __post_init__(self) -> None:
        if "," in self.word or Path(self.word).is_file():
            raise typer.BadParameter(f"expected a word or a phrase, got {self.word!r}; files are for --from")
        if self.engine not in (None, "microwakeword"):
            raise typer.BadParameter(
                f"expected --for microwakeword, which has networks of its own, got {self.engine!r}"
            )
        if self.now:
            return
        require("train", "wakeword_train", "torch", "torchaudio", "onnx", "scipy")
        if "torch" not in sys.modules:
            # OpenMP reads it when torch is imported: waiting threads sleep. Spinning takes seven times as long as one.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    def require_alone(self, option: str, allowed: Sequence[str]) -> None:
        """Raise ``typer.BadParameter`` for other options than these, by their fields, next to ``option``."""
        others = [field for field in fields(self) if field.name not in allowed]
        given = [field.name for field in others if getattr(self, field.name) != field.default]
        if given:
            called = {"base": "--from", "engine": "--for", "word": "a WORD"}
            names = " and ".join(called.get(key, f"--{key.replace('_', '-')}") for key in given)
            raise typer.BadParameter(f"{names} cannot be given with {option}")
