"""``wakeword train``: recordings and synthesised speech -> a calibrated model file."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.base.plugins import require_training_packages
from wakeword.cli.option_class import command
from wakeword_train.train_options import TrainOptions


@command
def train(options: TrainOptions) -> None:
    """Train a model for a keyword, calibrate it, and write it to one file.

    `wakeword train "hey zorvella"` is enough: speech is synthesised, and the package brings speech of others. With --now a
    model is there in seconds, from the text alone.
    """
    if options.now:
        # Needs no torch, which takes longer to import than the model takes to make.
        from wakeword_train.from_text import make_now

        print(make_now(options))
        return
    speech = None if options.download else [options.data]
    _prepare(
        options.positives,
        options.negatives,
        options.near_negatives,
        options.extend_negatives,
        options.background,
        options.noise,
        speech,
    )
    # Imported here so that --help works without torch, which an installation for listening does not have.
    from wakeword_train.train_command import run_command

    print(run_command(options))


def _prepare(*folders: Sequence[Path | None] | None) -> None:
    """Check what can be checked before anything slow is imported, and set up what must be set before."""
    _require_folders(folder for some in folders for folder in some or () if folder is not None)
    require_training_packages()
    _wait_without_spinning()


def _require_folders(folders: Iterable[Path]) -> None:
    """Raise ``DataError`` for a folder that does not exist."""
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: expected a folder of recordings, found none")


def _wait_without_spinning() -> None:
    """Let threads that wait for each other sleep: on a busy machine spinning ones took seven times as long as one thread.

    OpenMP reads this when torch is imported.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
