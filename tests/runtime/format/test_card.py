"""Laws of the model card."""

import dataclasses
import json
import unicodedata

import numpy as np
import pytest
from support.builders import card

from wakeword import ConfigError, ModelCard, ModelError
from wakeword.base.text import is_printable
from wakeword.format.card import SelfTest, self_test_signal

POINT = card().operating_points[0]
FULL_CARD = dataclasses.replace(
    card("hey marvin ü"),
    operating_points=(POINT, dataclasses.replace(POINT, name="fa/h=0.5", kind="fa_per_hour", threshold=0.9)),
    training={"method": "drocc-lf", "seed": 3, "data": {"positives": "0f3a"}, "date": "2026-01-01"},
    licence="Apache-2.0",
)

FEATURES = dataclasses.asdict(FULL_CARD.features)


def changed(**changes: object) -> str:
    """The JSON of a card with some top-level entries replaced."""
    return json.dumps({**json.loads(FULL_CARD.to_json()), **changes})


def changed_point(**changes: object) -> str:
    """The JSON of a card with a single operating point, some of whose entries are replaced."""
    return changed(operating_points=[{**dataclasses.asdict(POINT), **changes}])


def test_round_trip() -> None:
    assert ModelCard.from_json(FULL_CARD.to_json()) == FULL_CARD
    assert ModelCard.from_json(FULL_CARD.to_json()).to_json() == FULL_CARD.to_json()


def test_an_operating_point_is_found_by_name_or_by_default() -> None:
    assert FULL_CARD.point().name == FULL_CARD.default_point == "fpr=0.03"
    assert FULL_CARD.point("fa/h=0.5").threshold == 0.9


def test_a_missing_point_is_refused_with_a_list_of_the_others() -> None:
    with pytest.raises(ConfigError, match=r"'fpr=0\.5'.*fpr=0\.03, fa/h=0\.5"):
        FULL_CARD.point("fpr=0.5")
    uncalibrated = dataclasses.replace(FULL_CARD, operating_points=(), default_point=None)
    with pytest.raises(ConfigError, match="has no default operating point"):
        uncalibrated.point()


@pytest.mark.parametrize(
    "changes",
    [
        {"window": 0},
        {"window": 1_001},
        {"window": 97, "stack": 2},
        {"stack": 0},
        {"default_point": "fpr=0.5"},
        {"operating_points": (POINT, POINT)},
    ],
    ids=str,
)
def test_contradictions_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        dataclasses.replace(FULL_CARD, **changes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        changed(window="98"),
        changed(window=98.5),
        changed(window=98.0),
        changed(window=-1),
        changed(window=1_001),
        changed(window=10**12),
        changed(window=True),
        changed(stack="1"),
        changed(stack=1.0),
        changed(schema=True),
        changed(phrase=None),
        changed(unknown=1),
        changed(features={"n_fft": 512}),
        changed(features={**FEATURES, "n_fft": "400"}),
        changed(features={**FEATURES, "n_fft": 400.0}),
        changed(features={**FEATURES, "f_min": None}),
        changed(features_fingerprint="0" * 16),
        changed(features_fingerprint=None),
        changed(self_test=None),
        changed(self_test={}),
        changed(self_test={"logit": "x"}),
        changed(self_test={"logit": float("nan")}),
        changed(self_test={"logit": 0.0, "unknown": 1}),
        changed(operating_points={}),
        changed(operating_points="none"),
        changed(operating_points=[{"name": "a"}]),
        changed(operating_points=[{**dataclasses.asdict(POINT), "threshold": "0.5"}]),
        *(changed_point(**{name: "x"}) for name in ("target", "threshold", "recall", "recall_low", "recall_high")),
        *(changed_point(**{name: 1}) for name in ("name", "kind", "data")),
        changed_point(recall=True),
        changed_point(recall=10**400),
        changed_point(recall=float("inf")),
        changed(default_point="elsewhere"),
        changed(default_point=1),
        changed(version=1),
        changed(licence=None),
        changed(training=[1]),
        changed(training={"loss": [float("nan")]}),
    ],
)
def test_malformed_cards_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="card"):
        ModelCard.from_json(text)


UNPRINTABLE = ("\x1b]0;title\x07", "a\nb", "a\rb", "a\u2028b", "a\x9bb", "a\0b", "a\ud800b", "a\u202eb", "a" * 201)
UNPRINTABLE += ("a" + 190 * "\u0301", "a" + 90 * "\u0301\u200d", "\u0e2a" + 7 * "\u0e47")


@pytest.mark.parametrize("text", UNPRINTABLE, ids=ascii)
def test_names_that_are_not_printable_or_too_long_are_refused(text: str) -> None:
    cards = [changed(**{name: text}) for name in ("phrase", "version", "licence")]
    cards += [changed_point(**{name: text}) for name in ("name", "fingerprint")]
    for card_text in [*cards, changed(training={text: 1})]:
        with pytest.raises(ModelError, match=r"expected .* of up to 200 printable characters, got") as refused:
            ModelCard.from_json(card_text)
        assert is_printable(str(refused.value))
        assert len(str(refused.value)) < 500
    for card_text in (changed_point(data=20 * text), changed(training={"a": {"b": [20 * text]}})):
        with pytest.raises(ModelError, match=r"expected .* of up to 4000 printable characters, got"):
            ModelCard.from_json(card_text)


@pytest.mark.parametrize(
    "phrase",
    [
        *("hey marvin ü", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "你好", "नमस्ते", "a" * 200, "\U0001f600"),
        unicodedata.normalize("NFD", "Tiếng Việt ngữ"),
        *("क़्षाँ ज़िंदगी", "น้ำที่นี่ กั้น", "ကြွှို့ံ", "སངས་རྒྱས་ཧཱུྃ", "مُحَمَّدٌ"),
        "\u05e9\u05c1\u05bc\u05b8\u05bd\u0591\u05dc\u05d5\u05b9\u05dd",  # Hebrew with dot, point, vowel, meteg and accent
    ],
)
def test_phrases_of_any_script_are_accepted(phrase: str) -> None:
    assert ModelCard.from_json(changed(phrase=phrase)).phrase == phrase


RATE = {"value": 0.1, "low": 0.0, "high": 0.2, "count": 1, "trials": 10.0}


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {name: value}
            for name in ("recall", "recall_low", "recall_high", "assurance")
            for value in (-5, 1.01, 1e308)
        ),
        *({"threshold": value} for value in (0, 5e-324, -1, 2)),
        *({"target": value} for value in (0, -1, 1e300)),
        *({"positives": value} for value in (-3, 10**400, 10**12)),
        {"synthetic": -1},
        {"positives": 3, "synthetic": 4},
        {"kind": "moon"},
        *({"fpr_negatives": {**RATE, name: value}} for name in RATE for value in (-1, 1e300)),
    ],
    ids=str,
)
def test_figures_out_of_range_are_refused_in_one_line(changes: dict[str, object]) -> None:
    with pytest.raises(ModelError, match=r"malformed|expected") as refused:
        ModelCard.from_json(changed_point(**changes))
    assert len(str(refused.value)) < 500


def test_figures_in_range_are_accepted() -> None:
    card = ModelCard.from_json(
        changed_point(recall=0, recall_low=0, recall_high=1, assurance=1.0, fpr_negatives=RATE, threshold=1)
    )
    point = card.operating_points[0]
    assert (point.recall, point.recall_low, point.recall_high, point.assurance, point.threshold) == (0, 0, 1, 1, 1)


def test_cards_that_are_too_large_are_refused_at_once() -> None:
    points = [{**dataclasses.asdict(POINT), "name": str(number)} for number in range(101)]
    large = [
        (changed(phrase=20 * 2**20 * "a"), "at most 1048576 bytes"),
        (changed(schema=10**6 * "9"), "schema 4"),
        (changed(operating_points=points), "up to 100 operating points"),
        (changed(training={str(number): 1 for number in range(10_001)}), "at most 10000 entries"),
        (changed(training={"a": [[[[[[[[[1]]]]]]]]]}), "in 8 levels"),
    ]
    for text, reason in large:
        with pytest.raises(ModelError, match=reason) as refused:
            ModelCard.from_json(text)
        assert len(str(refused.value)) < 500


def test_integers_are_accepted_as_floats() -> None:
    assert ModelCard.from_json(changed(self_test={"logit": 1})).self_test == SelfTest(1.0)


def test_a_card_nested_without_end_is_refused() -> None:
    with pytest.raises(ModelError, match="card"):
        ModelCard.from_json(changed(training={"deep": []}).replace("[]", "[" * 100_000 + "]" * 100_000))


@pytest.mark.parametrize("schema", [0, 2, 3, 5, "4", None])
def test_another_schema_is_refused(schema: object) -> None:
    with pytest.raises(ModelError, match=r"schema 4, got .*train the model again"):
        ModelCard.from_json(changed(schema=schema))


def test_numbers_that_json_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        dataclasses.replace(FULL_CARD, training={"loss": float("nan")}).to_json()


def test_a_self_test_signal_is_the_start_of_a_longer_one() -> None:
    signal = self_test_signal(16_000)
    assert signal.dtype == np.float32
    assert 0.1 < np.abs(signal).max() < 1
    np.testing.assert_array_equal(signal[:100], self_test_signal(100))
