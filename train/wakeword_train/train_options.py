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
TAUGHT_FOR = {
    "openwakeword": "some 8 minutes of a core, with its clips by natural voices",
    "microwakeword": "some 30 minutes of a core, with its clips by natural voices",
}
"""Engines that get networks of their own, and what one takes."""
_SAVED = option(
    "--extend-negatives", "False accepts saved by evaluate --save-errors, to train against; repeatable.", "DIR"
)


@dataclass(frozen=True)
class TrainOptions:
    """Train a model for a keyword, calibrate it, and write it to one file.

    `wakeword train "hey zorvella"` is enough: speech is synthesised, and the package brings speech of others.
    """

    word: Annotated[str, typer.Argument(metavar="WORD", help="The wake word; of several, in quotes.")] = ""
    language: Annotated[str | None, language_option("Of the word")] = None
    also: Annotated[list[str] | None, option("--also", "Another phrase that wakes it; repeatable.", "PHRASE")] = None
    say: Annotated[list[str] | None, option("--say", "How the word is said, as 'ˈmɑɹvɪn'; repeatable.", "IPA")] = None
    anyway: Annotated[bool, option("--anyway", "Train a word that `wakeword check` finds poor.")] = False
    now: Annotated[
        bool, option("--now", "Make a model from the text in seconds, without training: it costs more CPU.")
    ] = False
    install_voices: Annotated[
        bool, option("--install-voices/--no-install-voices", "Where there are no natural voices, fetch some (120 MB).")
    ] = True
    data: Annotated[Path | None, option("--data", "Speech Commands: a folder for each word.", "DIR")] = None
    positives: Annotated[list[Path] | None, kind_option(Kind.POSITIVE, folders=True)] = None
    negatives: Annotated[list[Path] | None, kind_option(Kind.NEGATIVE, folders=True)] = None
    near_negatives: Annotated[list[Path] | None, kind_option(Kind.NEAR_NEGATIVE, folders=True)] = None
    extend_negatives: Annotated[list[Path] | None, _SAVED] = None
    background: Annotated[list[Path] | None, kind_option(Kind.BACKGROUND, folders=True)] = None
    noise: Annotated[list[Path] | None, kind_option(Kind.NOISE, folders=True)] = None
    config: Annotated[Path | None, option("--config", "Settings (TOML).", "FILE")] = None
    method: Annotated[str | None, option("--method", "drocc-lf, drocc-oe, bce, drocc, or a package's own.", "M")] = None
    base: Annotated[str | None, _BASE] = None
    out: Annotated[Path | None, option("--out", "Default: KEYWORD.onnx.", "FILE")] = None
    device: Annotated[_Device, typer.Option("--device")] = _Device.CPU
    seed: Annotated[int | None, number_option("--seed", "N", 0, MAX_SEED, "Random seed.")] = None
    work: Annotated[Path, option("--work", "For synthesised clips.", "DIR")] = Path("runs")
    report: Annotated[bool, option("--report/--no-report", "Write a page about the model beside it (.html).")] = True
    engine: Annotated[
        str | None, option("--for", f"Then train a network for it too: {' or '.join(TAUGHT_FOR)}.", "ENGINE")
    ] = None
    jobs: JobsOption = None
    ray: RayOption = None

    def __post_init__(self) -> None:
        if "," in self.word or Path(self.word).is_file():
            raise typer.BadParameter(f"expected a word or a phrase, got {self.word!r}; files are for --from")
        if self.engine not in (None, *TAUGHT_FOR):
            raise typer.BadParameter(f"expected --for {' or '.join(TAUGHT_FOR)}, got {self.engine!r}")
        if self.now:
            return
        require("train", "wakeword_train", "torch", "torchaudio", "onnx", "scipy")
        if "torch" not in sys.modules:
            # OpenMP reads it when torch is imported: waiting threads sleep. Spinning takes seven times as long as one.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    def require_alone(self, chosen: str, allowed: Sequence[str]) -> None:
        """Raise ``typer.BadParameter`` for other options than these, by their fields, next to ``chosen``."""
        others = [field for field in fields(self) if field.name not in allowed]
        given = [field.name for field in others if getattr(self, field.name) != field.default]
        if given:
            called = {"base": "--from", "engine": "--for", "word": "a WORD"}
            names = " and ".join(called.get(key, f"--{key.replace('_', '-')}") for key in given)
            raise typer.BadParameter(f"{names} cannot be given with {chosen}")
