"""The reports of ``wakeword evaluate``: each model without and with noise, and the differences between models."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.audio import read_audio
from wakeword.cli.console import note, progress
from wakeword.model import Model
from wakeword.sources import audio_files
from wakeword_tools.cli.scoring import score
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.compare import Difference, compare
from wakeword_tools.measure.evaluate import Report, evaluate
from wakeword_tools.measure.latency import latency, spoken_word
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.recordings import Files, Scored, Selection
from wakeword_tools.measure.scores import ScoreSet


@dataclass(frozen=True)
class NoiseSettings:
    """Noise that is mixed into clips."""

    ratios: Sequence[float]
    """Ratios of speech to noise, dB."""
    paths: Sequence[Path]
    """Recordings, or folders of them."""
    seed: int


def score_with_noise(models: Mapping[str, Model], chosen: Selection, noise: NoiseSettings) -> dict[str, Scored]:
    """The clips scored with noise at each ratio."""
    if not noise.ratios:
        return {}
    least = max(model.card.features.samples_in(model.card.window) for model in models.values())
    paths = [path for root in noise.paths for path in audio_files(root)]
    mixer = NoiseMixer(paths, least=least, seed=noise.seed, warn=note)
    words: Files = {kind: some for kind, some in chosen.files.items() if kind is not Kind.BACKGROUND}
    clips = dataclasses.replace(chosen, files=words)
    return {
        f"{ratio:g}": score(
            f"scoring at {ratio:g} dB", list(models.values()), clips, change=mixer.at(ratio), quiet=True
        )
        for ratio in noise.ratios
    }


def reports_on(
    models: Mapping[str, Model],
    scored: Scored,
    noisy: Mapping[str, Scored],
    *,
    fprs: Sequence[float],
    rates: Sequence[float],
) -> dict[str, Report]:
    """Label -> report of each model; ``noisy`` holds the same clips with noise, by ratio of speech to noise in dB."""
    reports = {}
    for index, (label, model) in enumerate(models.items()):
        clean = scored.sets[index]
        # Background is scored once, without added noise.
        sets = {
            ratio: dataclasses.replace(some.sets[index], streams=clean.streams, hours=clean.hours)
            for ratio, some in noisy.items()
        }
        report, *of_noise = (
            evaluate(scores, model.card, fprs=fprs, rates=rates, fingerprint=scored.fingerprint)
            for scores in (clean, *sets.values())
        )
        report = dataclasses.replace(report, snr=dict(zip(sets, of_noise, strict=True)))
        reports[label] = _with_latency(report, model, scored)
    return reports


def _with_latency(report: Report, model: Model, scored: Scored) -> Report:
    recordings = scored.recordings[Kind.POSITIVE]
    with progress("measuring delays", len(recordings)) as update:
        words = []
        for number, recording in enumerate(recordings, 1):
            words.append(spoken_word(model, read_audio(recording.path)))
            update(number)
    points = {
        name: dataclasses.replace(point, latency=latency(model, words, point.threshold))
        for name, point in report.operating_points.items()
    }
    return dataclasses.replace(report, operating_points=points)


def differences_to_first(
    sets: Mapping[str, ScoreSet], *, fprs: Sequence[float], rates: Sequence[float], seed: int
) -> dict[str, list[Difference]]:
    """Label -> differences of each further model to the first."""
    (_, first), *others = sets.items()
    return {label: compare(first, second, fprs=fprs, rates=rates, seed=seed) for label, second in others}


def report_json(reports: Mapping[str, Report], differences: Mapping[str, Sequence[Difference]]) -> dict[str, object]:
    """A single report unchanged, several in a list with their differences."""
    contents = [{"model": label, **report.to_json()} for label, report in reports.items()]
    if len(contents) == 1:
        return contents[0]
    found = [
        {"model": label, "against": next(iter(reports)), **dataclasses.asdict(one), "difference": one.difference}
        for label, some in differences.items()
        for one in some
    ]
    return {"models": contents, "differences": found}
