"""The comparison on ten words: words are the unit, the rule is that of the protocol, the page is written from the runs."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soundfile import write
from support.small_world import RATE, tones

from wakeword.base.errors import DataError
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.ten_words import ten_words_plan
from wakeword_experiments.ten_words.effects import STRICT, Arm, best_poolings, decide, effect
from wakeword_experiments.ten_words.resampling import draw, interval_of_difference, recall_on_draws, speaker_counts
from wakeword_experiments.ten_words.settings_page import write_settings_page
from wakeword_experiments.ten_words.ten_words_run import choose, run_ten_words, source_of
from wakeword_experiments.wake_words.protocol import measure
from wakeword_experiments.wake_words.wake_words_scores import ClipScores
from wakeword_tools.kinds import Kind

WORDS = [f"w{number}" for number in range(10)]
NOISE = np.random.default_rng(0).normal(0, 3, (len(ten_words_plan.METHODS), len(WORDS)))


def rows(**gains: float) -> list[dict[str, Any]]:
    """Rows in which each method finds so many points more than cross-entropy on average, by words and seeds unevenly."""
    found = []
    for number, method in enumerate(ten_words_plan.METHODS):
        gain = gains.get(method.replace("-", "_"), 0.0)
        noise = NOISE[number] - NOISE[number].mean()
        for place, word in enumerate(WORDS):
            for seed in (0, 1, 2):
                for pooling, validation in (("attention", 60.0), ("mean", 50.0)):
                    uneven = 0.0 if method == ten_words_plan.BASELINE else noise[place] + (seed - 1)
                    # Of other words and mean pooling nothing may come through.
                    recall = 40.0 + 5 * place + (gain + uneven if pooling == "attention" else 30 * place)
                    found.append(
                        {"word": word, "label": method, "pooling": pooling, "seed": seed}
                        | {"recall@3": recall, "validation": validation}
                    )
    return found


def test_the_unit_of_an_effect_is_a_word() -> None:
    attention = [Arm(method, "attention") for method in (ten_words_plan.INCUMBENT, ten_words_plan.BASELINE)]
    gain = effect(rows(drocc_lf=7.0), *attention)
    assert gain.mean == pytest.approx(7.0)
    assert gain.low < 7.0 < gain.high
    # Rows of more seeds that say the same do not make it narrower.
    again = [{**row, "seed": row["seed"] + 3 * copy} for row in rows(drocc_lf=7.0) for copy in range(5)]
    assert effect(again, *attention).low == pytest.approx(gain.low)
    swapped = effect(rows(drocc_lf=7.0), *reversed(attention))
    assert (swapped.mean, swapped.low) == pytest.approx((-gain.mean, -gain.high))
    assert effect(rows(drocc_lf=7.0), *attention, confidence=STRICT).low < gain.low


def test_the_pooling_of_a_method_is_chosen_on_validation() -> None:
    assert {arm.pooling for arm in best_poolings(rows()).values()} == {"attention"}
    better = [{**row, "validation": 99.0} if row["pooling"] == "mean" else row for row in rows()]
    assert {arm.pooling for arm in best_poolings(better).values()} == {"mean"}


@pytest.mark.parametrize(
    ("gains", "expected", "says"),
    [
        ({"drocc_lf": 8.0}, "drocc-lf", "8.0 points"),
        ({"drocc_lf": 8.0, "drocc_oe": 9.0}, "drocc-lf", "8.0 points"),
        ({"drocc_lf": 8.0, "drocc_oe": 16.0}, "drocc-oe", "DROCC-OE finds 8.0 points"),
        ({"drocc_lf": 0.5}, "bce", "neither"),
        ({"drocc_lf": -9.0}, "bce", "9.0 points"),
        ({"drocc_lf": 0.5, "deepsad": 9.0, "drocc_oe": 12.0}, "drocc-oe", "12.0 points"),
    ],
)
def test_the_rule_follows_from_the_figures(gains: dict[str, float], expected: str, says: str) -> None:
    decision = decide(rows(**gains))
    assert decision.method == expected
    assert says in decision.reason
    assert f"By the rule the default is {ten_words_plan.METHODS[expected]}." in decision.reason


def test_one_seed_changes_no_default() -> None:
    decision = decide([row for row in rows(drocc_lf=-9.0) if row["seed"] == 0])
    assert decision.method == ten_words_plan.INCUMBENT
    assert "not applied" in decision.reason


def clips(random: np.random.Generator, lift: float) -> ClipScores:
    """Test clips of one word: four speakers with 20 positives and 30 other words each, and three voices of close words."""
    groups = [Kind.POSITIVE.value] * 80 + [Kind.NEGATIVE.value] * 120 + [Kind.NEAR_NEGATIVE.value] * 120
    speakers = [f"s{n % 4}" for n in range(200)] + [f"v{n % 3}" for n in range(120)]
    means = {Kind.POSITIVE.value: 2.0 + lift, Kind.NEGATIVE.value: 0.0, Kind.NEAR_NEGATIVE.value: 1.0}
    scores = random.normal([means[group] for group in groups], 1.0)
    return ClipScores(scores, np.array(groups), np.array(speakers))


def counts_of(**changes: int) -> dict[str, np.ndarray]:
    """One draw that has every speaker once, except for ``changes``."""
    return {name: np.array([changes.get(name, 1)]) for name in ("s0", "s1", "s2", "s3", "v0", "v1", "v2")}


def test_a_draw_of_everyone_once_is_the_figure_itself() -> None:
    for seed in range(20):
        own = clips(np.random.default_rng(seed), 0.5)
        groups = {str(group): own.scores[own.groups == group] for group in np.unique(own.groups)}
        for fpr, name in ((0.03, "recall@3"), (0.05, "recall@5")):
            assert recall_on_draws(own, counts_of(), fpr)[0] == pytest.approx(measure(groups, groups)[name])


def test_a_speaker_drawn_twice_counts_twice_and_one_not_drawn_not_at_all() -> None:
    own = clips(np.random.default_rng(0), 0.5)
    rows_of = [np.flatnonzero(own.speakers == name) for name in ("s0", "s0", "s2", "s3", "v0", "v1", "v1")]
    some = np.concatenate(rows_of)
    drawn = ClipScores(own.scores[some], own.groups[some], own.speakers[some])
    expected = recall_on_draws(drawn, counts_of(), 0.03)
    assert recall_on_draws(own, counts_of(s0=2, s1=0, v1=2, v2=0), 0.03) == pytest.approx(expected)
    assert np.isnan(recall_on_draws(own, counts_of(v0=0, v1=0, v2=0), 0.03)).all()


def test_an_interval_over_all_holds_the_difference_and_is_wider_for_fewer_words() -> None:
    random = np.random.default_rng(0)
    speakers = {**speaker_counts([f"s{n}" for n in range(4)], 400, random)}
    speakers |= speaker_counts([f"v{n}" for n in range(3)], 400, random)
    names, seeds = [f"w{n}" for n in range(6)], [0, 1]

    def recalls(lift: float) -> dict[tuple[str, int], np.ndarray]:
        return {(name, seed): recall_on_draws(clips(random, lift), speakers, 0.03) for name in names for seed in seeds}

    better, worse = recalls(1.0), recalls(0.0)
    draws = draw(6, 2, 400, random)
    low, high = interval_of_difference(better, worse, names, seeds, draws)
    gain = np.mean([better[cell].mean() - worse[cell].mean() for cell in better])
    assert low < gain < high
    assert interval_of_difference(better, better, names, seeds, draws) == (0.0, 0.0)
    few = interval_of_difference(better, worse, names[:2], seeds, draw(2, 2, 400, random))
    assert few[1] - few[0] > high - low


def test_no_method_has_more_settings_than_cross_entropy_and_its_label_has_its_loss() -> None:
    every = ten_words_plan.candidates()
    assert list(every) == list(ten_words_plan.METHODS)
    assert max(map(len, every.values())) == len(every[ten_words_plan.BASELINE])
    for own, rand in zip(every[ten_words_plan.INCUMBENT], every[ten_words_plan.NO_ASCENT], strict=True):
        assert rand.adversary.steps == 0 < own.adversary.steps
        assert dataclasses.replace(rand, adversary=own.adversary) == own


def test_the_settings_with_the_best_mean_are_chosen() -> None:
    configs = ten_words_plan.candidates()[ten_words_plan.BASELINE]
    assert choose(configs, {0: [1.0, 2.0], 1: [3.0, 0.5], 2: [1.0, 1.0]}) == (1, configs[1])


def test_seeds_are_the_outermost_loop() -> None:
    chosen = {method: configs[0] for method, configs in ten_words_plan.candidates().items()}
    listed = ten_words_plan.jobs(chosen, ten_words_plan.WORDS, ten_words_plan.SEEDS)
    assert len(listed) == len({(j.word, j.label, j.shape.pooling, j.config.seed) for j in listed}) == 300
    assert [job.config.seed for job in listed] == sorted(job.config.seed for job in listed)


def test_the_page_of_the_settings_compares_with_the_best_cross_entropy(tmp_path: Path) -> None:
    every = ten_words_plan.candidates()
    listed = ten_words_plan.settings_jobs(every, ten_words_plan.WORDS[:3], 0)
    assert len(listed) == 3 * (len(every[ten_words_plan.BASELINE]) + len(every[ten_words_plan.INCUMBENT]))
    found = []
    for job in listed:
        method, _, index = job.label.rpartition(" ")
        recall = 10.0 * int(index) + (5.0 if method == ten_words_plan.INCUMBENT else 0.0) + len(job.word)
        found.append({"word": job.word, "label": job.label, "seed": 0, "validation": 50.0})
        found[-1] |= {"recall@3": recall, "recall@3 generic": 90.0}
    write_settings_page(tmp_path, found, every, command="settings")
    lines = (tmp_path / "ten-words-settings.md").read_text(encoding="utf-8").splitlines()
    for config, gain in zip(every[ten_words_plan.INCUMBENT], ("-25.0", "-15.0", "-5.0"), strict=True):
        (line,) = [line for line in lines if line.startswith(f"| {ten_words_plan.described(config)} |")]
        assert f"| {gain} (" in line


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tones under the names of words, spoken by 24 speakers."""
    root = tmp_path_factory.mktemp("words")
    random = np.random.default_rng(0)
    for word, pitches in {"stop": (400.0, 2_000.0), "right": (400.0,), "seven": (2_000.0,)}.items():
        (root / word).mkdir()
        for speaker in range(24):
            write(root / word / f"{speaker:08x}_nohash_0.wav", tones(pitches, random), RATE)
    return root


@pytest.mark.slow
def test_the_page_is_written_from_whole_seeds(recordings: Path, tmp_path: Path) -> None:
    sizes = dataclasses.replace(ten_words_plan.SIZES, held_out=6, bank=192)
    source = source_of(recordings, None, tmp_path / "work", sizes)
    every = {
        method: [dataclasses.replace(config, warmup_epochs=1, epochs=2) for config in configs[:1]]
        for method, configs in ten_words_plan.candidates().items()
    }
    lines: list[str] = []

    def call(seeds: list[int], out: str, *, train: bool) -> str:
        run_ten_words(
            source,
            ["stop", "right"],
            seeds,
            executor=Executor(),
            out=tmp_path / out,
            command="ten-words",
            report=lines.append,
            train=train,
            every=every,
        )
        return (tmp_path / out / "ten-words.md").read_text(encoding="utf-8")

    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with pytest.raises(DataError, match="found 0"):
        call([0], "first", train=False)
    page = call([0], "first", train=True)
    assert "With 1 seed the rule is not applied" in page
    assert (tmp_path / "first" / "ten-words.png").stat().st_size > 0
    record = json.loads((tmp_path / "first" / "ten-words.json").read_text(encoding="utf-8"))
    assert len(record["rows"]) == 2 * len(ten_words_plan.METHODS) * len(ten_words_plan.POOLINGS)
    assert {row["seed"] for row in record["rows"]} == {0}
    trained = len(lines)
    # Of seed 1 there is nothing, so that the page is that of seed 0.
    again = call([0, 1], "second", train=False)
    assert again == page
    assert not any(" runs, " in line for line in lines[trained:]), "--page-only trained"
    check_figures(record, page)


def check_figures(record: dict[str, Any], page: str) -> None:
    """The differences on the page are those of the rows."""

    def recall(arm: list[str], word: str) -> float:
        rows = [row for row in record["rows"] if [row["label"], row["pooling"], row["word"]] == [*arm, word]]
        return float(np.mean([row["recall@3"] for row in rows]))

    assert record["settings"]["effects"]
    for one in record["settings"]["effects"]:
        for word, gain in one["by word"].items():
            assert gain == pytest.approx(recall(one["better"], word) - recall(one["worse"], word), abs=0.02)
        assert one["mean"] == pytest.approx(np.mean(list(one["by word"].values())), abs=0.01)
        assert f" over {Arm(*one['worse'])} | {one['mean']:+.1f} | {one['over words'][0]:.1f} to" in page
