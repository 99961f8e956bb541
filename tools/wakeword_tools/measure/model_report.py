"""How well a model finds its word and ignores everything else, as a report that can be written as JSON."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from wakeword.format.card import ModelCard
from wakeword_tools.contenders.foreign import ForeignCard
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS
from wakeword_tools.measure.latency import Latency
from wakeword_tools.measure.rates import Choice, Measured, choose_fa_per_hour, choose_fpr, mean_roc_auc, measure
from wakeword_tools.measure.scores import ScoreSet


@dataclass(frozen=True)
class Recall:
    """Recall at a threshold chosen on the evaluated data, with its 95 % Clopper-Pearson interval."""

    recall: float
    low: float
    high: float
    threshold: float


@dataclass(frozen=True)
class PointReport:
    """The rates on this data at an operating point of the model, which was chosen before."""

    threshold: float
    measured: Measured
    latency: Latency | None = None


@dataclass(frozen=True)
class ModelReport:
    """The evaluation of one model. The keys of mappings are the targets, ``0.03``."""

    keyword: str
    positives: int
    """Recordings of people, or synthetic ones if there are none; so is every recall but ``recall_synthetic``."""
    negatives: int
    near_negatives: int
    background_hours: float
    roc_auc: float | None
    """The mean over negatives and near negatives; ``None`` if there are none."""
    recall_at_fpr: dict[str, Recall]
    """At the mean of the rates on negatives and near negatives, or at the rate of the one kind there is."""
    recall_at_fa_per_hour: dict[str, Recall]
    operating_points: dict[str, PointReport]
    default_point: str | None
    fingerprint: str
    """Fingerprint of the recordings."""
    synthetic_positives: int = 0
    """Synthetic positives, all of ``positives`` or others next to them."""
    snr: "dict[str, ModelReport]" = field(default_factory=dict)
    """The same with noise mixed into the clips, by ratio of speech to noise in dB; thresholds for false accepts an hour
    are chosen on background without added noise."""

    def to_json(self) -> dict[str, object]:
        """The report as ``json.dump`` takes it."""
        content = dataclasses.asdict(self)
        for report, written in ((self, content), *((self.snr[ratio], content["snr"][ratio]) for ratio in self.snr)):
            for name, point in written["operating_points"].items():
                point |= {**point.pop("measured"), "fpr": report.operating_points[name].measured.fpr}
        return content


def evaluate_model(
    scores: ScoreSet,
    card: ModelCard | ForeignCard,
    *,
    fprs: Sequence[float] = DEFAULT_FPRS,
    rates: Sequence[float] = (DEFAULT_FA_PER_HOUR,),
    fingerprint: str = "",
) -> ModelReport:
    """The report on a model's scores, without noise and latency."""
    return ModelReport(
        keyword=card.phrase,
        positives=len(scores.positives),
        negatives=len(scores.negatives),
        near_negatives=len(scores.near_negatives),
        background_hours=scores.hours,
        roc_auc=mean_roc_auc(scores.positives, scores.groups) if scores.groups else None,
        recall_at_fpr=(
            {f"{fpr:g}": _recall(scores, choose_fpr(scores.groups, fpr, scores)) for fpr in fprs}
            if scores.groups
            else {}
        ),
        recall_at_fa_per_hour=(
            {f"{rate:g}": _recall(scores, choose_fa_per_hour(scores, rate)) for rate in rates} if scores.hours else {}
        ),
        operating_points={
            point.name: PointReport(point.threshold, measure(scores, point.threshold))
            for point in card.operating_points
        },
        default_point=card.default_point,
        fingerprint=fingerprint,
        synthetic_positives=len(scores.positives if scores.only_synthetic else scores.synthetic_positives),
    )


def _recall(scores: ScoreSet, choice: Choice) -> Recall:
    rate = measure(dataclasses.replace(scores, hours=0.0), choice.threshold).recall
    return Recall(rate.value, rate.low, rate.high, choice.threshold)
