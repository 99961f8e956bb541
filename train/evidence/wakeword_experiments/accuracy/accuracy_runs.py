"""What the commands ``accuracy`` and ``folds`` do, from their options to the written pages."""

from collections.abc import Sequence
from pathlib import Path

from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword_experiments.accuracy.folds import folds_page, measure_folds
from wakeword_experiments.accuracy.measurement import Bench, measure_accuracy, read_record, write_accuracy
from wakeword_train.config import read_config


def run_accuracy(
    models: Sequence[Path],
    audio: Path | None,
    figures: Path,
    page: Path,
    *,
    near_clips: int,
    seed: int,
    work: Path,
    cache: Path | None,
    command: str,
    report: Line,
) -> None:
    """Measure the models and write figures and pages; without models only the pages, from earlier figures."""
    if not models:
        write_accuracy(read_record(figures), figures, page)
        return
    if audio is None:
        raise ConfigError("expected the folder of recordings to measure on, got none; give it with --audio")
    record = measure_accuracy(models, Bench(audio, work, near_clips, seed, cache, report))
    write_accuracy(record | {"command": command}, figures, page)


def run_folds(config: Path, methods: Sequence[str], count: int, bench: Bench, out: Path, *, command: str) -> None:
    """Train and measure the folds of each method (default: the recipe's) and write figures and page."""
    settings = read_config(config)
    record = measure_folds(settings, list(dict.fromkeys(methods or [settings.method])), count, bench)
    name = f"folds-{'-'.join(settings.keyword.split())}"
    write_json(out / f"{name}.json", record | {"command": command})
    with replacing(out / f"{name}.md") as temporary:
        temporary.write_text(folds_page(record, figures=f"{name}.json"), encoding="utf-8")
