"""The reports of ``wakeword evaluate``: each model without and with noise, and the differences between models."""

import dataclasses
from collections.abc import Mapping, Sequence

from wakeword_tools.measure.latency import latency
from wakeword_tools.measure.model_difference import Difference
from wakeword_tools.measure.model_report import ModelReport, evaluate_model
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.subject import Subject


def reports_on(
    models: Mapping[str, Subject],
    scored: Scored,
    noisy: Mapping[str, Scored],
    *,
    fprs: Sequence[float],
    rates: Sequence[float],
) -> dict[str, ModelReport]:
    """Label -> report of each model.

    ``scored`` has the words for the delays; ``noisy`` the same clips with noise, by ratio of speech to noise in dB.
    """
    reports = {}
    for index, (label, model) in enumerate(models.items()):
        clean = scored.sets[index]
        # Background is scored once, without added noise.
        sets = {
            ratio: dataclasses.replace(some.sets[index], streams=clean.streams, hours=clean.hours)
            for ratio, some in noisy.items()
        }
        report, *of_noise = (
            evaluate_model(scores, model.card, fprs=fprs, rates=rates, fingerprint=scored.fingerprint)
            for scores in (clean, *sets.values())
        )
        points = {
            name: dataclasses.replace(point, latency=latency(model, scored.words[index], point.threshold))
            for name, point in report.operating_points.items()
        }
        snr = dict(zip(sets, of_noise, strict=True))
        reports[label] = dataclasses.replace(report, snr=snr, operating_points=points)
    return reports


def report_json(
    reports: Mapping[str, ModelReport], differences: Mapping[str, Sequence[Difference]]
) -> dict[str, object]:
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
