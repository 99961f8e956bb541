"""The one-class methods reject clear outliers, are repeatable by seed, and are not tuned on the reported data."""

import numpy as np
import pytest

from wakeword_experiments.one_class import half_zeros, one_class_words, shapes, tabular
from wakeword_experiments.one_class.baselines import (
    Autoencoder,
    DeepSvdd,
    Drocc,
    Isolation,
    KNearest,
    LocalOutliers,
    OneClassSvm,
    Problem,
    auc,
    settings_of,
    tune,
)
from wakeword_experiments.one_class.fitted import adversary, fit, six_settings
from wakeword_experiments.one_class.networks import dense_encoder
from wakeword_experiments.one_class.one_class_figures import bars, boundaries, curves
from wakeword_experiments.one_class.synthetic import sphere_surface
from wakeword_experiments.tensor_fits import FitConfig

ENCODER = dense_encoder(2, width=32, depth=2)
METHODS = [
    KNearest(5),
    OneClassSvm(1.0),
    LocalOutliers(20),
    Isolation(50, 64),
    Autoencoder(1, 1e-2, epochs=20),
    DeepSvdd(ENCODER, 8, 1e-2, epochs=20, pretraining=5),
    Drocc(ENCODER, 0.5, 1, epochs=30),
]


def circle(n: int, radius: float, seed: int) -> np.ndarray:
    return sphere_surface(n, radius, np.random.default_rng(seed), dimension=2)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_points_far_outside_score_below_the_positives(method) -> None:
    scorer = method.fit(circle(256, 1, 0), 0)
    assert auc(scorer, circle(256, 1, 1), circle(256, 6, 2)) > 85


@pytest.mark.parametrize("method", METHODS[3:], ids=lambda method: method.name)
def test_a_seed_is_repeatable(method) -> None:
    points = circle(64, 1, 0)
    first, again, other = (method.fit(points, seed)(points) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_auc_counts_pairs() -> None:
    scorer = lambda points: points[:, 0].astype(float)  # noqa: E731
    positives, anomalies = np.array([[3.0], [1.0]], np.float32), np.array([[2.0], [0.0]], np.float32)
    assert auc(scorer, positives, anomalies) == 75


def test_tuning_takes_the_best_on_its_own_problem() -> None:
    # The 250 nearest points of the circle are nearer to points inside it than to points on it.
    problem = Problem(circle(256, 1, 0), circle(256, 1, 1), circle(256, 0.5, 2))
    tuned = tune([KNearest(250), KNearest(2)], [problem], seed=0)
    assert tuned.method == KNearest(2)
    assert tuned.validation_auc["neighbours=2"] > tuned.validation_auc["neighbours=250"]
    assert tuned.settings == "neighbours=2"


@pytest.mark.parametrize(
    ("candidates", "methods"),
    [
        (shapes.candidates(shapes.SPHERE), 5),
        (shapes.candidates(shapes.SINE), 5),
        (tabular.candidates(8), 7),
        (one_class_words.candidates(32), 7),
    ],
    ids=["sphere", "sine", "tabular", "words"],
)
def test_every_method_gets_six_different_settings(candidates, methods: int) -> None:
    assert {name: len({*map(settings_of, some)}) for name, some in candidates.items()} == dict.fromkeys(candidates, 6)
    assert len(candidates) == methods


@pytest.mark.parametrize("method", ["bce", "deepsad", "drocc", "drocc-oe", "drocc-lf"])
def test_every_trained_method_gets_six_different_settings(method: str) -> None:
    settings = six_settings(method, FitConfig(), radii=(1.0, 2.0, 3.0))
    assert len(settings) == len({str(config) for config in settings}) == 6
    assert {config.method for config in settings} == {method}


@pytest.mark.parametrize("method", ["bce", "deepsad", "drocc-lf"])
def test_negatives_are_learned(method: str) -> None:
    positives, negatives = circle(128, 1, 0), circle(128, 2, 1)
    config = FitConfig(
        method=method, adversary=adversary(radius=0.3), warmup_epochs=5, epochs=30, learning_rate=1e-2, batch_size=64
    )
    assert auc(fit(config, ENCODER, positives, negatives), circle(128, 1, 2), circle(128, 2, 3)) > 98


def test_the_threshold_of_validation_bounds_its_own_false_positives() -> None:
    zeros, ones = np.ones((40, 8, 8), np.float32), np.zeros((40, 8, 8), np.float32)
    _, validation, _ = half_zeros.deal(zeros, ones, 0)
    figures = half_zeros.figures(
        lambda points: points.reshape(len(points), -1).sum(1).astype(float), validation, validation
    )
    # Whole zeros are brighter than half zeros, which are all equally bright: none of the latter may pass.
    assert figures == {"recall": 100, "fpr_half_zeros": 0, "fpr_ones": 0, "auc_half_zeros": 100}


def test_pictures_have_a_panel_for_each_method() -> None:
    train = circle(64, 1, 0)
    scorers = {"a": KNearest(2).fit(train, 0), "b": KNearest(5).fit(train, 0)}
    figure = boundaries(scorers, train, circle(64, 1, 1), titles={"a": "first"})
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == ["first", "b"]
    rows = [{"m": m, "x": x, "auc": 50.0 + x, "seed": s} for m in "ab" for x in (1, 2) for s in (0, 1)]
    assert [
        text.get_text()
        for text in curves(rows, x="x", value="auc", line="m", x_label="x", value_label="%")
        .axes[0]
        .get_legend()
        .get_texts()
    ] == ["a", "b"]
    assert len(bars(rows, down="m", values={"auc": "AUC"}, value_label="%").axes[0].patches) == 2
