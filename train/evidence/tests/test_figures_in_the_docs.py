"""Every headline figure of README, the page of the adversary and the evidence for the method is that of a record."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import RESULTS, ROOT

from wakeword.model.installed import assets_folder
from wakeword.verify.shared import EAR, LANGUAGES, recogniser_folders
from wakeword_experiments.figures_report import distinct, mean_interval, paired_difference, plus_minus, select
from wakeword_experiments.one_class.one_class_comparison import COMPARISONS, comparison_page
from wakeword_experiments.one_class.published import AUDIO
from wakeword_experiments.two_stages.export_record import CONDITIONS
from wakeword_experiments.two_stages.languages_study import languages_page
from wakeword_experiments.two_stages.people_range import WITHIN, half_width, range_page, text_alone_content, typed_found
from wakeword_experiments.two_stages.stage_folds_page import RECORD_PREFIX, folds_name, stage_folds_page
from wakeword_experiments.two_stages.two_stages_page import accuracy_page, stages_page
from wakeword_experiments.two_stages.typed_words import typed_page
from wakeword_experiments.two_stages.words_of_languages import countries_page
from wakeword_export.head.openwakeword import EXPORTER
from wakeword_export.micro.device_files import MICRO_EXPORTER
from wakeword_train.recipe import default_recipe

DOCS = ROOT / "docs"
PUBLISHED = "| the published figures for marvin, seven, forward, follow | 43.4 | 53.9 | 59.7 | 64.2 |"
"""Read off the bar charts of Goyal et al., 2020: the only figures of the section that are not from a record."""


def record(name: str) -> dict[str, Any]:
    """A record of ``train/evidence/results``."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def one_line(path: Path) -> str:
    """A page with every run of white space as one space, without bold."""
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8").replace("**", ""))


def mean(rows: list[Any], field: str, **chosen: object) -> float:
    """Of ``field`` over the rows that have these values."""
    found = [row[field] for row in select(rows, **chosen)]
    assert found, chosen
    return float(np.mean(found))


def gains(rows: list[Any], better: str, worse: str) -> dict[str, list[float]]:
    """Word -> difference in recall at 3 % mixed of each seed."""
    base = {(row["word"], row["seed"]): row["recall@3"] for row in select(rows, label=worse)}
    return {
        word: [row["recall@3"] - base[word, row["seed"]] for row in select(rows, label=better, word=word)]
        for word in distinct(rows, "word")
    }


def four_words() -> list[str]:
    """What the section says of the study of four words."""
    rows = record("wake-words")["rows"]
    paper, seen = select(rows, regime="paper"), select(rows, regime="seen")
    order = ("bce", "deepsad", "drocc-oe", "drocc-lf")
    of_paper, of_seen = (
        " | ".join(f"{mean(some, 'recall@3', label=label):.1f}" for label in order) for some in (paper, seen)
    )
    by_word = gains(paper, "drocc-lf", "bce")
    gain, low, high = mean_interval([each for word in by_word.values() for each in word])
    _, lowest, highest = mean_interval([float(np.mean(word)) for word in by_word.values()])
    oe = mean_interval([each for word in gains(paper, "drocc-lf", "drocc-oe").values() for each in word])
    later = mean_interval([each for word in gains(seen, "drocc-lf", "bce").values() for each in word])
    rates = {
        label: [mean(paper, f"set fpr@3 {group}", label=label) for group in ("close", "generic")]
        for label in ("drocc-lf", "bce")
    }
    return [
        f"the paper's regime; 5 seeds) | {of_paper} |",
        f"seen in training (3 seeds) | {of_seen} |",
        f"DROCC-LF finds {gain:.1f} points more than cross-entropy (95 % interval {low:.1f} to {high:.1f} over 20 runs",
        f"the gain for a fifth may lie anywhere from {lowest:.0f} to {highest:.0f}",
        f"no difference here ({oe[0]:.1f}, interval {oe[1]:.1f} to {oe[2]:.1f})",
        f"(DROCC-LF {later[0]:.1f}, interval {later[1]:.1f} to {later[2]:.1f};",
        f"let {rates['drocc-lf'][0]:.1f} % of the close and {rates['drocc-lf'][1]:.1f} % of the other test words pass "
        f"(cross-entropy: {rates['bce'][0]:.1f} and {rates['bce'][1]:.1f})",
    ]


def ten_words() -> list[str]:
    """What the page says of the comparison on ten words."""
    content = record("ten-words")
    rows, settings = content["rows"], content["settings"]
    effects = {(tuple(one["better"]), tuple(one["worse"])): one for one in settings["effects"]}
    arms = {method: (method, pooling) for method, pooling in settings["pooling of each method"].items()}

    def gain(better: tuple[str, str], worse: tuple[str, str]) -> str:
        one = effects[better, worse]
        return f"{one['mean']:+.1f} ({one['over words'][0]:.1f} to {one['over words'][1]:.1f})"

    order = ("bce", "deepsad", "drocc-lf-rand", "drocc-oe", "drocc-lf")
    table = [
        f"| {pooling} pooling | "
        + " | ".join(f"{mean(rows, 'recall@3', label=label, pooling=pooling):.1f}" for label in order)
        + " |"
        for pooling in ("attention", "mean")
    ]
    of_words = effects[arms["drocc-lf"], arms["bce"]]["by word"]
    rates = mean_rates(rows, ("bce", "drocc-lf"), arms)
    return [
        *table,
        settings["decision"]["reason"],
        f"finds less than cross-entropy in {sum(one < 0 for one in of_words.values())} of ten words",
        f"DeepSAD {gain(arms['deepsad'], arms['bce'])}",
        f"DROCC-OE {gain(arms['drocc-oe'], arms['bce'])}",
        f"without ascent {gain(arms['drocc-lf-rand'], arms['bce'])}",
        f"the ascent is worth {gain(('drocc-lf', 'attention'), ('drocc-lf-rand', 'attention'))} with attention and "
        f"{gain(('drocc-lf', 'mean'), ('drocc-lf-rand', 'mean'))} with mean pooling",
        f"the metric {gain(('drocc-lf', 'attention'), ('drocc-oe', 'attention'))} and "
        f"{gain(('drocc-lf', 'mean'), ('drocc-oe', 'mean'))}",
        f"cross-entropy {gain(('bce', 'mean'), ('bce', 'attention'))}, DROCC-LF "
        f"{gain(('drocc-lf', 'mean'), ('drocc-lf', 'attention'))}",
        f"cross-entropy finds {rates['bce']}, DROCC-LF {rates['drocc-lf']}",
    ]


def mean_rates(rows: list[Any], methods: tuple[str, ...], arms: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Recall with the threshold of validation, and the realised rates, of each method with its pooling."""
    found = {}
    for method in methods:
        own = select(rows, label=method, pooling=arms[method][1])
        recall, generic, close = (mean(own, f"set {name}") for name in ("recall@3", "fpr@3 generic", "fpr@3 close"))
        found[method] = (
            f"{recall:.1f} % at {(generic + close) / 2:.1f} % ({generic:.1f} of other, {close:.1f} of close words)"
        )
    return found


def after_the_fact() -> list[str]:
    """What the page says of the settings that the comparison did not choose."""
    content = record("ten-words-settings")
    rows, configs = content["rows"], content["settings"]["settings"]
    means = {label: mean(rows, "recall@3", label=label) for label in configs}
    of = {
        name: {label: figure for label, figure in means.items() if configs[label]["method"] == name}
        for name in ("bce", "drocc-lf")
    }
    best = {name: max(figures, key=figures.__getitem__) for name, figures in of.items()}
    shell = configs[best["drocc-lf"]]["adversary"]
    ends = {name: f"{min(figures.values()):.1f} to {max(figures.values()):.1f}" for name, figures in of.items()}
    base = {row["word"]: row["recall@3"] for row in select(rows, label=best["bce"])}
    differences = [row["recall@3"] - base[row["word"]] for row in select(rows, label=best["drocc-lf"])]
    middle, low, high = mean_interval(differences)
    return [
        f"on {len(base)} of the words, with attention and one seed",
        f"cross-entropy finds {ends['bce']} % with its four learning rates, DROCC-LF {ends['drocc-lf']} % with its four "
        "shells",
        f"the best of these (radius {shell['radius']:g}, `mu` {shell['mu']:g}) against the best of those: "
        f"{middle:+.1f} ({low:.1f} to {high:.1f})",
    ]


def parts() -> list[str]:
    """What the section says of the ablations."""
    rows = record("ablations")["rows"]
    means = {label: mean(rows, "validation", label=label) for label in distinct(rows, "label")}
    best = max(means, key=means.__getitem__)
    assert best == "BCE, mean pooling"
    return [
        f"{means['as tuned']:.1f} as tuned",
        f"With mean pooling DROCC-LF does as well ({means['DROCC-LF, mean pooling']:.1f}), and cross-entropy has the best "
        f"figure of all {len(means)} rows ({means[best]:.1f})",
        f"DROCC-LF falls to {means['DROCC-LF, last hidden state']:.0f} and cross-entropy to "
        f"{means['BCE, last hidden state']:.0f}",
    ]


CLAIMS = [*ten_words(), *after_the_fact(), PUBLISHED, *four_words(), *parts()]


def one_class() -> tuple[dict[str, list[float]], dict[str, str]]:
    """AUC of each method by word, and its mean and spread over words as the pages write them."""
    rows = record("one-class-audio")["rows"]
    by_word = {
        method: [mean(rows, "auc", method=method, keyword=word) for word in distinct(rows, "keyword")]
        for method in distinct(rows, "method")
    }
    return by_word, {method: plus_minus(values) for method, values in by_word.items()}


def test_the_pages_say_of_one_class_on_audio_what_its_record_says() -> None:
    rows = record("one-class-audio")["rows"]
    by_word, shown = one_class()
    words = distinct(rows, "keyword")
    assert len(words) == 10
    means = {method: float(np.mean(values)) for method, values in by_word.items()}
    drocc = dict(zip(words, by_word["DROCC"], strict=True))
    assert max(means, key=means.__getitem__) == "LOF"
    assert max(by_word, key=lambda method: float(np.ptp(by_word[method]))) == "DROCC"
    assert (min(drocc, key=drocc.__getitem__), max(drocc, key=drocc.__getitem__)) == ("left", "on")
    against = paired_difference(
        rows, field="method", better="DROCC", worse="kNN", value="auc", by=("keyword", "seed")
    ).split(" points")[0]
    people = [3 * row["speakers"] // 5 for row in rows]
    readme = one_line(RESULTS / "README.md")
    for claim in (
        *(f"{method} {shown[method]}" for method in means),
        f"by {min(people)} to {max(people)} people",
        f"LOF, has an AUC of {means['LOF']:.1f}, and DROCC, at {shown['DROCC']}, is level",
        f"({against} points)",
        f'{min(drocc.values()):.1f} for "left", {max(drocc.values()):.1f} for "on"',
    ):
        assert claim in readme, claim
    knn, published = AUDIO.rows["kNN"][0], AUDIO.rows["DROCC"][0]
    assert (
        f"no one-class method has a mean AUC above {np.ceil(means['LOF']):.0f} (DROCC {means['DROCC']:.1f}, kNN "
        f'{means["kNN"]:.1f}; published for "marvin" {published:.1f} and {knn:.1f})'
    ) in one_line(RESULTS.parent / "evidence.md")


def test_the_page_of_the_papers_figures_is_that_of_the_records(tmp_path: Path) -> None:
    for name in [one.record for one in COMPARISONS]:
        (tmp_path / f"{name}.json").write_bytes((RESULTS / f"{name}.json").read_bytes())
    comparison_page(tmp_path, record("paper")["command"])
    assert (tmp_path / "paper.md").read_text(encoding="utf-8") == (RESULTS / "paper.md").read_text("utf-8")


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_evidence_says_what_the_records_say(claim: str) -> None:
    assert claim in one_line(RESULTS.parent / "evidence.md")


def test_the_page_of_the_method_has_the_verdict_of_the_record() -> None:
    assert record("ten-words")["settings"]["decision"]["reason"] in one_line(DOCS / "method.md")


def test_no_figure_of_the_evidence_is_without_a_record() -> None:
    page = one_line(RESULTS.parent / "evidence.md")
    evidence = page[: page.index("## Small problems")]
    for claim in sorted(CLAIMS, key=len, reverse=True):
        evidence = evidence.replace(claim, "")
    # Settings, of which the page speaks too: step sizes, mu.
    settings = {"0.01", "0.12", "0.17", "0.3", "0.5", "1.2", "1.5"}
    assert set(re.findall(r"\d+\.\d+", evidence)) <= settings


def test_the_page_of_the_adversary_says_what_its_record_says() -> None:
    rows, earlier = record("adversary-health")["rows"], record("adversary-health-earlier")["rows"]
    losses = {row["search"]: row["loss"] for row in select(earlier, model="alexa", space="input")}
    near, far = ([row[name] for row in rows if name in row] for name in ("nearest of the word", "from other words"))
    least = min(row["from the nearest other word"] for row in rows if "from the nearest other word" in row)
    text = one_line(RESULTS.parent / "adversary.md")
    for claim in (
        f"lowered the loss from {losses['random points of the shell']:.2f} to {losses['fixed steps, last point']:.3f}, "
        f"where today's found {losses['best point, shortened steps']:.1f} by as many steps and "
        f"{losses['the same, 4 times finer']:.1f} by four times as many",
        f"within {min(near):.1f} to {max(near):.1f} of these units (median), other words lie {min(far):.1f} to "
        f"{max(far):.1f} from the nearest of the word and none of them within {least:.1f}",
    ):
        assert claim in text


def test_the_settings_beside_the_papers_are_those_of_the_recipe() -> None:
    recipe = default_recipe()
    schedule, network, adversary = recipe.schedule, recipe.network, recipe.adversary
    mantissa, exponent = f"{schedule.learning_rate:.0e}".split("e")
    page = (RESULTS.parent / "adversary.md").read_text(encoding="utf-8")
    table = {line.split(" | ")[0].lstrip("| "): line.split(" | ")[-1] for line in page.splitlines() if line[:1] == "|"}
    for setting, expected in {
        "features": f"{network.window} frames",
        "network": f"{network.stack} frames at a time, rectified layer of {network.stem}, LSTM of {network.hidden_size}, "
        f"{network.pooling}, linear; dropout {network.dropout:g}",
        "radius": f"{adversary.radius:g}, ",
        "gamma, outer over inner radius": f"{adversary.gamma:g} |",
        "mu": f"{adversary.mu:g} |",
        "length of a step": f"{adversary.step_size:g} radii ({adversary.step_size * adversary.radius:g}) at first",
        "learning rate": f"{mantissa}e{int(exponent)}, ",
        "weights that are used": f"a running average ({schedule.averaging:g} a step)",
        "epochs of cross-entropy first": f"{schedule.warmup_epochs} of {schedule.epochs} |",
    }.items():
        assert table[setting].startswith(expected), setting


CUT_MARVINS = ("6379c6a2", "d1bf406b")
"""Recordings that end inside the word."""


def test_the_page_of_exports_says_what_words_from_text_lose() -> None:
    page = one_line(DOCS / "export.md")
    phonemes = record("export-phonemes")
    for word, one in phonemes["words"].items():
        cells = [
            " / ".join(str(one[part]["0.5"][how][0]) for how in ("clean", "noisy", "room"))
            for part in ("head", "both", "taught")
        ]
        assert f"| {word}, of {one['recordings']} | {' | '.join(cells)} |" in page
    own = [one for word, one in phonemes["at_its_own_threshold"].items() if word != "of"]
    recordings = sum(one["recordings"] for one in phonemes["words"].values())
    taught, head = (
        (sum(one[part][0] for one in own), f"{sum(one[part][1] for one in own) / recordings:.0%}".replace("%", " %"))
        for part in ("taught", "head")
    )
    assert f"fired {taught[0]} times in 26 h of strangers' speech so" in page
    assert f"{taught[1]} of the recordings of people were found" in page
    assert f"found {taught[1]} of the recordings of people" in EXPORTER.expected
    alone = f"By the model's head alone, without `--for`, the six fired {head[0]} times too, and {head[1]} were found"
    assert alone in page
    clean = [one["taught"]["0.5"]["clean"][0] / one["recordings"] for one in phonemes["words"].values()]
    assert f"{np.mean(clean):.0%}".replace("%", " %") + " of people, of six words at half" in one_line(
        DOCS.parent / "CHANGELOG.md"
    )
    files = [one["files"] for one in record("exports")["words"].values()]
    for name in ("wakeword", "openWakeWord export", "microWakeWord export"):
        found = [of_word[name]["rate"]["found"] for of_word in files]
        means = [100 * np.mean([one[how][0] / one[how][1] for one in found]) for how in CONDITIONS]
        assert f"{' / '.join(f'{mean:.0f}' for mean in means)} %" in page


def test_the_page_of_students_says_what_phonemes_bring() -> None:
    content = record("export-students")
    page, means = one_line(DOCS / "microwakeword.md"), []
    for word, one in content["words"].items():
        cells = [
            " / ".join(str(one[part][rate][how][0]) for how in ("clean", "noisy", "room"))
            for rate in ("0.5", "2")
            for part in ("student", "both")
        ]
        assert f"| {word}, {one['recordings']} | {' | '.join(cells)} |" in page
        means.append(f"{100 * one['both']['0.5']['clean'][0] / one['recordings']:.0f}")
    found = f"{', '.join(means[:-1])} and {means[-1]} %"
    assert f"of six words it finds {found} of the recordings of people" in page
    assert f"of six words trained from their text it found {found}" in MICRO_EXPORTER.expected
    assert f"often: {found} of six words" in one_line(DOCS.parent / "CHANGELOG.md")
    fired = sum(one["both"][0] for one in content["at_its_own_threshold"].values())
    hours = sum(one["hours"] for one in content["words"].values())
    assert f"in {hours:.0f} h of other people six words fired {fired / hours:.1f} times an hour" in page
    found_and_fired = [
        "{}, {}, {}, {}, {} and {}".format(*(one["both"][place] for one in content["at_its_own_threshold"].values()))
        for place in (1, 0)
    ]
    assert "find {} recordings, with {} false accepts".format(*found_and_fired) in page


def test_the_page_of_own_sound_says_what_the_hour_said() -> None:
    (row,) = record("playback-hour")["rows"]
    page = one_line(DOCS / "own-sound.md")
    assert f"{row['found']} of {row['said']} words of a person found" in page
    assert f"{row['own_woke']} of {row['own']} words of the playback woke it, {row['other']} other detections" in page
    assert f"Memory went from {row['megabytes'][0]:.0f} to {row['megabytes'][1]:.0f} MB" in page


def test_the_page_of_a_house_says_what_its_record_says() -> None:
    content = record("kept-sounds")
    rows, settings = content["rows"], content["settings"]
    page = one_line(DOCS / "improve.md")
    before, same, after = (
        [round(100 * share) for share in select(rows, model=model, point=point)[0]["shares"].values()]
        for model, point in (("before", "its own"), ("before", "at most 0 points fewer"), ("after", "its own"))
    )
    assert f"in {before[0]} % of cases" in page
    assert f"{settings['kept']['no']} such wakes and {settings['kept']['yes']} words" in page
    assert f"took {settings['cpu_seconds']:.0f} s of CPU time" in page
    assert f"in {after[0]} % at its own threshold, and in {after[1]} % in place of {before[1]} %" in page
    assert after[2] == before[2] == same[2]
    assert f"found in {after[2]} % as before" in page
    assert f"the old model woke in {same[0]} %" in page


def test_the_evidence_says_how_many_houses_passed() -> None:
    rows = record("house")["rows"]
    page = one_line(RESULTS.parent / "evidence.md")
    passed = {
        way: [
            sum(int(row["passes"]) for row in select(rows, way=way, room=room) if row["false_before"])
            for room in distinct(rows, "room")
        ]
        for way in ("improve", "unit", "threshold")
    }
    assert passed["improve"] == [0, 0, 0, 0]
    for way in ("unit", "threshold"):
        *most, last = passed[way]
        assert f"passes in {', '.join(map(str, most))} and {last}" in page


def test_the_page_of_accuracy_is_that_of_its_record() -> None:
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    folds = [record(path.stem) for path in sorted((RESULTS).glob(f"{RECORD_PREFIX}*.json"))]
    assert page == accuracy_page(record("two-stages"), figures="two-stages", folds=folds)
    behind = (RESULTS / "two-stages.md").read_text(encoding="utf-8")
    assert behind == stages_page(record("two-stages"), figures="two-stages.json", folds=folds)
    for fold in folds:
        name = folds_name(fold["keyword"])
        own = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
        assert own == stage_folds_page(fold, figures=f"{name}.json")
    sevens = [
        one["found"]["default"]["clean"]
        for part in record("folds-two-stages-seven")["folds"]
        for one in part["recordings"]
    ]
    assert f"23 people: {100 * np.mean(sevens):.0f} % at the defaults" in one_line(RESULTS / "README.md")
    recordings = [one for part in record("folds-two-stages-marvin")["folds"] for one in part["recordings"]]
    found = [one["found"]["default"]["clean"] for one in recordings]
    whole = [
        one["found"]["default"]["clean"] for one in recordings if not any(cut in one["file"] for cut in CUT_MARVINS)
    ]
    assert (
        f"{100 * np.mean(found):.0f} % at the defaults, {100 * np.mean(whole):.0f} % of the whole clips"
    ) in one_line(RESULTS / "README.md")


def test_the_readme_counts_false_accepts_as_the_record_does() -> None:
    content = record("two-stages")
    counted: dict[int, list[str]] = {}
    defaults: dict[str, list[str]] = {}
    for word in content["words"]:
        both = word["stages"]["both"]
        counted.setdefault(int(both["cross_validated"]["events"]), []).append(word["keyword"])
        defaults.setdefault(both["points"]["default"]["name"], []).append(word["keyword"])
    hours = min(word["stages"]["both"]["cross_validated"]["hours"] for word in content["words"])
    text = one_line(ROOT / "README.md")
    assert f"fired in {hours:.1f} h of talk" in text
    assert f"speech of {content['speakers']} other people" in text
    noisy = [word["noisy_speech"]["10"]["per_hour"][0] for word in content["words"]]
    assert f"noise 10 dB below the speech the models fire {min(noisy):.2f} to {max(noisy):.2f} times an hour" in text
    for events, words in counted.items():
        for word in words:
            times = "1 time" if events == 1 else f"{events} times"
            assert re.search(rf"\| {word} \|[^|]*\|[^|]*\| {times} \|", text), word
    assert {name: len(words) for name, words in defaults.items()} == {"fa_per_hour=0.5": 5, "fa_per_hour=1": 1}
    assert f'at most one mistake in two hours, "{defaults["fa_per_hour=1"][0]}" one an hour' in text


def test_the_front_pages_compare_with_peers_and_cost_as_the_records_do() -> None:
    (own,) = [word["stages"]["both"] for word in record("two-stages")["words"] if word["keyword"] == "alexa"]
    peers = [peer["at_cutoff"] for peer in record("peers")["peers"] if not peer["ours"]]
    kinds = [own["points"]["default"], *peers]
    found = [f"{100 * kind['people']['clean']['rate']:.0f} %" for kind in kinds]
    close = [f"{100 * kind['close']['clean']['rate']:.1f} %" for kind in kinds]
    text = one_line(ROOT / "README.md")
    assert f"(ours {found[0]}, theirs {found[1]} each, of eight people's recordings)" in text
    assert found[1] == found[2]
    assert f"wake ours at {close[0]}, microWakeWord at {close[1]} and openWakeWord at {close[2]}" in text
    (cost,) = re.findall(r"One keyword takes ([\d.]+) ms of CPU", (DOCS / "performance.md").read_text(encoding="utf-8"))
    assert f"costs {float(cost):.1f} ms of processor time" in text
    assert f"takes {float(cost):.1f} ms of processor time" in one_line(DOCS / "index.md")


def test_the_collections_begin_with_the_table_of_accuracy_and_the_index_has_their_figures() -> None:
    rows = record("collections")["rows"]
    for word in record("two-stages")["words"]:
        clean = word["stages"]["both"]["points"]["default"]["people"]["clean"]
        own = select(rows, keyword=word["keyword"], collection="Speech Commands", condition="")
        assert [(row["found"], row["of"]) for row in own] in ([], [(clean["found"], clean["of"])])

    def rate(keyword: str, collection: str, condition: str = "") -> str:
        (row,) = select(rows, keyword=keyword, collection=collection, condition=condition)
        return f"{100 * row['found'] / row['of']:.0f}"

    recorded, narrow = ([rate(word, "Speech Commands", how) for word in ("seven", "stop")] for how in ("", "at 8 kHz"))
    assert (
        f'"seven" and "stop" are found in {recorded[0]} and {recorded[1]} % of the test\'s recordings, in {narrow[0]} and '
        f'{narrow[1]} % of the same at 8 kHz; "seven" of another collection at 8 kHz in '
        f"{rate('seven', 'Free Spoken Digit Dataset')} %, in sentences in {rate('seven', 'speechocean762')} %."
    ) in one_line(RESULTS / "README.md")


def test_the_rate_of_a_dictionarys_close_words_is_that_of_the_record() -> None:
    rows = select(record("dictionary-words")["rows"], kind="close")
    clips, found = (sum(row[name] for row in rows) for name in ("clips", "found"))
    rate = f"{100 * found / clips:.1f} %"
    assert f"the models fire on {rate} of {clips:,} clips" in one_line(RESULTS / "README.md")
    assert f"by engines new to training they fire in {rate} (" in one_line(DOCS / "accuracy.md")


def test_what_a_text_alone_finds_is_that_of_the_record() -> None:
    words = [word["text"] for word in record("anyword")["words"]]
    clean, noisy = (np.mean([word["default"][how]["rate"] for word in words]) for how in ("clean", "noisy"))
    rate = sum(word["default"]["events"] for word in words) / sum(word["hours"] for word in words)
    clips = sum(word["default"]["clean"]["of"] for word in words)
    assert (
        f"At the default {100 * clean:.0f} % of {clips} recordings of people are found as they are and "
        f"{100 * noisy:.0f} % at 10 dB (means over words), with {rate:.2f} false accepts an hour"
    ) in one_line(RESULTS / "README.md")
    assert (
        f"the default points of ten words find {100 * clean:.0f} % of people, {100 * noisy:.0f} % at 10 dB"
    ) in one_line(DOCS / "recordings.md")
    told = [word for word in words if word["phonemes"] >= 1.5]
    others = [word for word in words if word not in told]

    def both(some: list[Any]) -> str:
        shares = (100 * np.mean([word["default"][how]["rate"] for word in some]) for how in ("clean", "noisy"))
        return "{:.0f} and {:.0f} %".format(*shares)

    assert (len(told), len(others)) == (6, 4)
    assert f"the six whose phonemes tell them from speech {both(told)}" in one_line(RESULTS / "README.md")
    assert (
        f"with {rate:.2f} false accepts an hour: six that their phonemes tell from speech {both(told)}, four short ones "
        f"{both(others)}"
    ) in one_line(DOCS / "recordings.md")
    before, after = (
        100 * np.mean([word[state]["default"]["clean"]["rate"] for word in record("anyword")["words"] if state in word])
        for state in ("before", "after")
    )
    assert f"took three words from {before:.0f} to {after:.0f} %" in one_line(DOCS / "recordings.md")


def test_what_training_adds_to_a_text_is_that_of_the_records() -> None:
    trained, typed = (
        {word["keyword"]: word["text"] for word in record(name)["words"]} for name in ("trained-ear", "typed-ear")
    )
    assert trained.keys() == typed.keys()
    page, said = (DOCS / "any-word.md").read_text(encoding="utf-8"), one_line(DOCS / "any-word.md")
    four = "clean", "noisy", "quiet", "room"

    def means(words: Iterable[Any], at: str, *how: str) -> list[str]:
        words = list(words)
        return [f"{100 * np.mean([word[at][one]['rate'] for word in words]):.0f}" for one in how]

    def counted(words: Iterable[Any], counts: Callable[[Any], float]) -> float:
        return sum(map(counts, words))

    long = ("computer", "jarvis", "alexa", "operator", "think engine", "onword")
    events, hours = [], []
    for name, group in (("six words", long), ("seven short ones", [word for word in typed if word not in long])):
        for way, words in (("at once", typed), ("trained", trained)):
            own = [words[word] for word in group]
            assert f"| {name}, {way} | {' % | '.join(means(own, 'default', *four))} % |" in page
            events.append(counted(own, lambda word: word["default"]["events"]))
            hours.append(f"{counted(own, lambda word: word['hours']):.1f} h")
    assert f"six trained ones woke {events[1]} times in {hours[1]} of speech" in said
    assert f"the others {events[0]} times in {hours[0]}" in said
    assert f"the short ones {events[3]} times in {hours[3]} trained, and {events[2]} times at once" in said
    noise = [counted(words.values(), lambda word: word["hours_of_others"]["noise"]) for words in (trained, typed)]
    woke = [counted(words.values(), lambda word: word["default"]["others"]["noise"]) for words in (trained, typed)]
    assert f"In {noise[0]:.1f} h of noise and music all trained ones woke {woke[0]} times" in said
    assert f"in {noise[1]:.1f} h of noise the others once" in said
    assert woke[1] == 1
    before = {word["keyword"]: word["text"] for word in record("trained")["words"]}
    shares = [
        "{}, {}, {} and {} %".format(*means((words[word] for word in before), "default", *four))
        for words in (before, trained)
    ]
    assert f"they found {shares[0]}, and with the ear {shares[1]}" in said
    three = "clean", "noisy", "room"
    default, at_rate = (means((trained[word] for word in long), at, *three) for at in ("default", "at_rate"))
    assert (
        "six words find {}, {} and {} % (as recorded, 10 dB, rooms) at their defaults, and {}, {} and {} % at half a"
    ).format(*default, *at_rate) in one_line(RESULTS / "README.md")


def test_what_recognisers_hear_is_that_of_the_record() -> None:
    found = record("recognisers-earlier")["found"]
    before, now = (
        {
            how: f"{100 * np.mean([word[how] for word in found[name].values()]):.0f}"
            for how in ("clean", "noisy", "room")
        }
        for name in ("before", "now")
    )
    noisy, room = (f"in {before[how]} and then {now[how]} %" for how in ("noisy", "room"))
    assert f"{noisy} of recordings in noise, {room} in measured rooms" in one_line(RESULTS / "README.md")
    ways = ("clean", "as recorded"), ("noisy", "in noise"), ("room", "in rooms")
    page = one_line(RESULTS.parent / "text-alone.md")
    for how, said in ways:
        assert f"from {before[how]} to {now[how]} {'% ' if how == 'clean' else ''}{said}" in page


def test_what_the_recogniser_finds_is_that_of_the_record() -> None:
    found = record("recognisers")["found"]
    before, now = (
        {
            how: f"{100 * np.mean([word[how][-1] for word in found[name].values()]):.0f}"
            for how in ("clean", "noisy", "loud", "room", "narrow")
        }
        for name in ("before", "now")
    )
    summary = one_line(RESULTS / "README.md")
    assert f"as recorded, in {now['clean']} and not {before['clean']} % of recordings" in summary
    assert (
        f"at 5 dB in {now['loud']} and not {before['loud']}, in measured rooms in {now['room']} and not {before['room']}"
        in summary
    )
    rows = [f"| {name} | " + " | ".join(own.values()) + " |" for name, own in (("before", before), ("ships", now))]
    page = (RESULTS.parent / "text-alone.md").read_text("utf-8")
    assert all(row in page for row in rows)


def test_false_accepts_in_other_languages_are_those_of_the_record() -> None:
    content = record("languages")
    hours = sum(one["hours"] for one in content["included"])
    rates = [
        sum(one["events"][word] for one in content["included"]) / hours for word in content["included"][0]["events"]
    ]
    said = f"fire {min(rates):.0f} to {max(rates):.1f} times an hour in {hours:.1f} h of speech in other languages"
    assert said in one_line(RESULTS / "README.md")
    assert said in one_line(DOCS / "languages.md")
    assert languages_page(content, figures="languages.json") == (RESULTS / "languages.md").read_text("utf-8")


def test_what_words_of_other_languages_find_is_that_of_the_record() -> None:
    words = record("anyword-languages")["words"]
    page = one_line(DOCS / "languages.md")

    for code, name in (("ar", "Arabic"), ("zh", "Mandarin")):
        own = [word for word in words if word["language"] == code]
        alone, taught = (
            f"{100 * np.mean([state['clean']['rate'] for state in states]):.0f} %"
            for states in (
                [word["text"]["at_rate"] for word in own],
                [word["after"]["default"] for word in own if "after" in word],
            )
        )
        said = f"{name} words in {alone} at 0.5 false accepts an hour, after ten recordings in {taught}"
        assert said in page, said
        assert said in one_line(RESULTS / "README.md"), said


def test_what_texts_of_other_languages_find_is_that_of_the_record() -> None:
    content = record("typed-languages")
    page = one_line(DOCS / "languages.md")
    for code, said in (("ar", "{} % of eight Arabic words"), ("zh", "{} % of seven Mandarin ones")):
        own = [word["text"] for word in content["words"] if word["language"] == code]
        assert said.format(_means(own, "default")) in page
        assert _means(own, "at_one") in page
    assert typed_page(content, figures="typed-languages.json") == (RESULTS / "typed-languages.md").read_text("utf-8")


def test_what_names_of_countries_find_is_that_of_the_record() -> None:
    content = record("typed-countries")
    page = one_line(DOCS / "languages.md")
    texts = [word["text"] for word in content["words"]]
    for word in content["words"]:
        own = word["text"]
        points = " | ".join(_means([own], point) for point in ("default", "at_one"))
        name = {"Chinese": "Chinese (Mandarin)"}.get(word["keyword"], word["keyword"])
        assert f"| {name} | {own['speakers']} | {points} |" in page
    words, events = sum(len(text["of_words"]) for text in texts), sum(text["default"]["events"] for text in texts)
    hours = min(text["hours"] for text in texts)
    rate = events / sum(len(text["of_words"]) * text["hours"] for text in texts)
    assert f"{hours:.1f} h of speech, mostly English and French" in page
    assert f"At their defaults {words} words wake {events} times in it, so {rate:.2f} times an hour" in page
    assert countries_page(content, "typed-countries.json") == (RESULTS / "typed-countries.md").read_text("utf-8")


def _means(texts: Sequence[dict[str, Any]], point: str) -> str:
    """What words find in the mean, as recorded, in noise and in rooms."""
    heard = ("clean", "noisy", "room")
    return " / ".join(f"{100 * np.mean([text[point][how]['rate'] for text in texts]):.0f}" for how in heard)


@pytest.mark.parametrize(
    ("which", "trained", "folder"),
    [
        ("-countries", "trained-ear", recogniser_folders().get(LANGUAGES)),
        ("", "anyword", assets_folder("wakeword_train")),
        ("-ear", "trained-ear", recogniser_folders().get(EAR)),
    ],
)
def test_what_ships_of_words_from_text_alone_is_that_of_the_records(which: str, trained: str, folder: Path) -> None:
    content = json.loads((folder / "text-alone.json").read_text("utf-8"))
    records = record(trained), record(f"typed{which}")
    assert content == text_alone_content(*records, content["weights"])
    page = (RESULTS / f"people-range{which}.md").read_text(encoding="utf-8")
    assert page == range_page(*records, content["weights"])


@pytest.mark.parametrize("name", ["typed", "typed-ear"])
def test_nine_of_ten_words_lie_in_the_range_that_other_collections_give(name: str) -> None:
    found = typed_found(record(name))
    ranges = found.without_collections()
    within = [
        low <= share <= high for share, (low, high) in zip(found.shares, filter(None, ranges.values()), strict=True)
    ]
    assert np.mean(within) >= WITHIN


def test_a_range_widens_with_what_collections_differ_by() -> None:
    alike, apart = (np.tile(own, (6, 1)) for own in ([1.0, 1.2] * 3, [1.0, 1.2, 1.0, 1.2, -2.0, -1.8]))
    collections = ["a", "a", "b", "b", "c", "c"]
    assert half_width(apart, collections) > 3 * half_width(alike, collections)
    # By words that resemble each other within a collection alone, nothing is learnt of another one.
    assert half_width(apart, list("abcdef")) < half_width(apart, collections)


@pytest.mark.parametrize("name", ["peers", "picovoice"])
def test_the_page_of_peers_has_the_tables_of_its_records(name: str) -> None:
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    rows = [row for row in (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines() if row.startswith("|")]
    assert len(rows) > 3
    assert "\n".join(rows) in page
