"""What a model finds of people and speech of whole collections that training heard nothing of.

Two ways to be unheard: a keyword of which training has no recording, and nobody who says it in the test; and a
collection of speech that is kept out of the background. A few recordings of the keyword may be given afterwards, of
people who then do not count in the test.
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.events import Line
from wakeword.base.files import new_folder
from wakeword.base.poisson import poisson_rate
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.model import Model, read_model
from wakeword_experiments.two_stages.two_stages_measure import TestClips, interval_of, measure_word, recall_of
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.scores import events_at, stream_scores
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.store import ClipStore
from wakeword_train.enrolment import enrol_model
from wakeword_train.pipeline import EMBEDDINGS, add_second_stage, train_stand_ins
from wakeword_train.points import put_into_place
from wakeword_train.training import train_first_stage
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun


@dataclass(frozen=True)
class Trial:
    """One training, and what it must not hear."""

    config: TrainConfig
    """With ``hold_out_recorded`` no recording of the keyword is trained on."""
    folders: DataFolders
    speech: Sequence[Path] = ()
    """Folders of speech that are not among ``folders``, to count false accepts in."""
    takes: int = 0
    """Recordings of the keyword, one of a person, with which the model is fine-tuned afterwards."""


def measure_trial(trial: Trial, work: Path, report: Line) -> dict[str, Any]:
    """Train as the trial says, in the new folder ``work``, and measure."""
    config = trial.config
    draft, path = work / "draft.onnx", work / "model.onnx"
    work.mkdir(parents=True, exist_ok=True)
    run = TrainingRun(config, trial.folders, work, work.parent / EMBEDDINGS, events=TrainingEvents(report))
    result = train_first_stage(run, draft)
    points, second = add_second_stage(run, draft, result.clips, stand_ins=train_stand_ins(run))
    put_into_place(draft, points, path, run.events)
    model = read_model(path)
    record: dict[str, Any] = {
        "keyword": config.keyword,
        "recorded": not config.hold_out_recorded,
        "background": [folder.name for folder in trial.folders.background],
        "word": measure_word(path, second, result.clips, report),
        "speech": [count_false_accepts(model, folder) for folder in trial.speech],
    }
    if trial.takes:
        record["enrolled"] = _enrolled(trial, path, result.clips, work, report)
    return record


def count_false_accepts(model: Model, folder: Path) -> dict[str, Any]:
    """Events at the model's default point in a folder of speech, without the utterances in which the keyword is said."""
    clips = read_folder(folder, Kind.BACKGROUND, keyword=model.card.phrase)
    store = ClipStore(clips)
    threshold = model.card.point().threshold
    events = 0
    for row in range(len(store)):
        events += events_at([stream_scores(model, store.wave(row))], threshold)
    return {
        "folder": folder.name,
        "hours": store.hours,
        "speakers": len({clip.speaker for clip in clips}),
        "events": events,
        "per_hour": [events / store.hours, *poisson_rate(events, store.hours)],
    }


def split_takes(people: Sequence[Clip], count: int) -> tuple[list[Clip], list[Clip]]:
    """``count`` clips of as many people, and the clips of all other people. By a hash of their names."""
    speakers = sorted({clip.speaker for clip in people}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    chosen = set(speakers[:count])
    first = {clip.speaker: clip for clip in reversed(people) if clip.speaker in chosen}
    return list(first.values()), [clip for clip in people if clip.speaker not in chosen]


def _enrolled(trial: Trial, path: Path, clips: Sequence[Clip], work: Path, report: Line) -> dict[str, Any]:
    """Recall before and after fine-tuning on a few takes, of the people who did not give any."""
    takes, others = split_takes(TestClips.of(clips).people, trial.takes)
    folder = work / "takes"
    with new_folder(folder) as made:
        for take in takes:
            (made / take.path.name).symlink_to(take.path.resolve())
    folders = dataclasses.replace(trial.folders, positives=[folder])
    enrolled = work / "enrolled.onnx"
    enrol_model(trial.config, path, folders, enrolled, work=work, events=TrainingEvents(report))
    test = dataclasses.replace(TestClips.of(clips), people=others)
    return {
        "takes": len(takes),
        "others": len(others),
        "before": _at_default(read_model(path), test, report),
        "after": _at_default(read_model(enrolled), test, report),
    }


def _at_default(model: Model, test: TestClips, report: Line) -> dict[str, Any]:
    point: OperatingPoint = model.card.point()
    return {"point": point.name, "people": recall_of(model, test, point.threshold, report)}


def unheard_page(trials: Sequence[Mapping[str, Any]], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    rows = [
        "| | trained on | recordings | default | clean / 10 dB | false accepts an hour (95 %) | close words |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for trial in trials:
        word = trial["word"]
        both = word["stages"]["both"]
        point = both["points"]["default"]
        known = "recordings and synthetic voices" if trial["recorded"] else "synthetic voices alone"
        people = point["people"]
        close = f"{100 * point['close']['clean']['rate']:.1f} %" if point["close"] else ""
        rows.append(
            f"| {trial['keyword']} | {known}; {', '.join(trial['background'])} | {people['clean']['of']} | "
            f"`{point['name']}` | {_both(people)} | {_events(both['cross_validated'])} | {close} |"
        )
        for speech in trial["speech"]:
            rows.append(f"| | | | in {speech['folder']}, unheard | | {_events(speech)} | |")
        if "enrolled" in trial:
            for name in ("before", "after"):
                own = trial["enrolled"][name]
                label = f"{name} {trial['enrolled']['takes']} recordings"
                count = own["people"]["clean"]["of"]
                rows.append(f"| | {label} | {count} | `{own['point']}` | {_both(own['people'])} | | |")
    head = (
        "# Unheard",
        "",
        "What models find of words, people and speech of whole collections that training heard nothing of, but for the "
        "encoder with which first stages begin: it heard half of the speech, without being told what is said. Recordings "
        "of the word, and all else that their speakers say, are kept out where it is trained on synthetic voices alone. "
        "False accepts are counted in held-out speech at thresholds from other speech, and in collections that were kept "
        "out. A default that is named `fa_per_hour=1` promises one an hour in speech like that of training; what it gives "
        "in a collection that is unlike all of it stands below.",
        "",
    )
    notes = [f'"{trial["keyword"]}": {trial["note"]}.' for trial in trials if "note" in trial]
    made = dict.fromkeys(f"`{trial['command']}` on {trial['date']}" for trial in trials)
    return "\n".join(
        [
            *head,
            *rows,
            "",
            *(f"{note}\n" for note in notes),
            "Made, each by itself, by",
            "",
            *(f"- {one}" for one in made),
            "",
            f"[Figures]({figures}).",
            "",
        ]
    )


def _both(people: Mapping[str, Any]) -> str:
    clean, noisy = people["clean"], people["noisy"]
    low, high = interval_of(clean)
    return f"{100 * clean['rate']:.0f} / {100 * noisy['rate']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _events(counted: Mapping[str, Any]) -> str:
    if counted["per_hour"] is None:
        return ""
    rate, low, high = counted["per_hour"]
    return f"{rate:.2f} ({low:.2f} to {high:.2f}) in {counted['hours']:.1f} h"
