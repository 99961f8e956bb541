"""Other engines' models of the same word, on the same people and in the same speech as ours of two stages."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword_experiments.accuracy.accuracy_contenders import PEERS_WORD, JudgedModel, peers
from wakeword_experiments.figures_report import kept_rows, made_by
from wakeword_experiments.two_stages.two_stages_measure import (
    RATE,
    Score,
    TestClips,
    cross_validated,
    interval_of,
    rates_at,
    scores_by_group,
)
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.scores import ScoreSet
from wakeword_train.config import read_config
from wakeword_train.data.clips import Clip, without_fold
from wakeword_train.data.store import ClipStore
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders

_HOURS = 1.0
"""Speech between two reports, hours."""


def measure_peer(peer: JudgedModel, clips: Sequence[Clip], report: Line) -> dict[str, Any]:
    """One engine: at the threshold of its makers, and at that which keeps half a false accept an hour here.

    ``clips`` are all those of our training of the word. Of this engine's training nothing is known: people and speech
    of the test may be among what it heard. ``cutoff``: the rates at its makers' threshold. ``set``: those at a threshold
    chosen on all of this speech, and ``cross_validated`` the events at thresholds that were chosen on two thirds of it.
    """
    test = TestClips.of(clips)
    scores = scores_by_group(peer.score, test, report)
    evidence = dataclasses.replace(speech_scores(peer.score, clips, report), positives=scores["people"]["clean"])
    cutoff = float(np.nextafter(peer.facts["cutoff"], np.inf))  # the engines fire above it, and not at it
    chosen = choose_fa_per_hour(evidence, RATE).threshold
    return {
        "name": peer.name,
        **peer.facts,
        "at_cutoff": rates_at(cutoff, scores, evidence, test.groups),
        "set": rates_at(chosen, scores, evidence, test.groups),
        "cross_validated": cross_validated(evidence, RATE),
    }


def speech_scores(score: Score, clips: Iterable[Clip], report: Line) -> ScoreSet:
    """The scores of the speech in which the false accepts of our models are counted; see ``ScoreSet.streams``."""
    store = ClipStore([clip for clip in clips if clip.kind is Kind.BACKGROUND and clip.split is Split.VALIDATION])
    streams, heard, told = [], 0, 0.0
    for row, length in enumerate(store.lengths.tolist()):
        streams.append(score(store.wave(row)))
        heard += length
        hours = store.hours * heard / max(1, len(store.samples))
        if hours >= told + _HOURS:
            told = hours
            report(f"{hours:.1f} of {store.hours:.1f} h of speech")
    nothing = np.zeros(0)
    return ScoreSet(positives=nothing, negatives=nothing, streams=streams, hours=store.hours)


def measure_peers(
    recipe: Path, folders: DataFolders, wanted: Sequence[str], figures: Path, *, command: str, report: Line
) -> None:
    """Measure the engines that are installed, or those of ``wanted`` by their names on PyPI, and write the record.

    Engines of an earlier record there stay in it. Raises ``ConfigError`` if one of them cannot be measured.
    """
    working, absent = peers()
    for name in wanted:
        if name in absent:
            raise ConfigError(f"expected an engine that runs here, got {name}: {absent[name]}")
    config = read_config(recipe)
    clips = gather_clips(config, folders)
    if config.background_folds:
        clips = without_fold(clips, 0, 1)  # all parts are judged by a first stage that has not heard them
    for peer in working:
        if wanted and peer.name.split()[0] not in wanted:
            continue
        report(peer.name)
        measured = measure_peer(peer, clips, report)
        known = kept_rows(figures, "peers")
        record = {
            **made_by(command),
            "keyword": PEERS_WORD,
            "peers": sorted(
                [*(one for one in known if one["name"] != peer.name), measured], key=lambda one: str(one["name"])
            ),
        }
        write_json(figures, record)
        write_whole(figures.with_suffix(".md"), peers_page(record, figures=figures.name).encode())


def peers_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    people = record["peers"][0]["at_cutoff"]["people"]["clean"]["of"]
    head = (
        "# Other engines",
        "",
        f'Their models of "{record["keyword"]}" on the {people} recordings of people of our test, as recorded / with noise '
        "10 dB below the word, and in the same held-out speech. What they were trained on is not published: "
        "they may have heard people of this test, or none like them. Our model of the word was trained on other people of "
        "the same collection; the close words are synthesised as those of its training were.",
        "",
    )
    foot = ("", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", "")
    return "\n".join([*head, *peers_table(record), *foot])


def peers_table(record: Mapping[str, Any]) -> list[str]:
    """A row of Markdown for each engine at each of its thresholds, with a head."""
    rows = [
        "| | threshold | people | false accepts an hour (95 %) | close words |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for peer in record["peers"]:
        for name, label in (
            ("at_cutoff", "its makers'"),
            ("set", f"{RATE:g} an hour in this speech"),
        ):
            at = peer[name]
            clean, noisy = at["people"]["clean"], at["people"]["noisy"]
            low, high = (100 * end for end in interval_of(clean))
            rate, least, most = at["per_hour"]
            close = f"{100 * at['close']['clean']['rate']:.1f} %" if at["close"] else ""
            rows.append(
                f"| {peer['name']} | {label} | {100 * clean['rate']:.0f} / {100 * noisy['rate']:.0f} % "
                f"({low:.0f} to {high:.0f}) | {rate:.2f} ({least:.2f} to {most:.2f}) in {at['hours']:.1f} h | {close} |"
            )
    return rows
