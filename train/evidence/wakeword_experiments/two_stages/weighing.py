"""How the parts of both stages are weighed for words of which models heard the text alone.

Models are trained as ``wakeword train WORD`` trains them. People who say the word, as they are, in noise and far below full
scale, and strangers' speech are heard from a low gate on; rules are judged on each word, and what is learned is learned
on the others.
"""

import dataclasses
import datetime
import json
import logging
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model, read_model
from wakeword.verify.verifier import SecondStage
from wakeword_experiments.figures_report import versions
from wakeword_experiments.two_stages.anyword import people_of, strangers_speech
from wakeword_experiments.two_stages.conditions import Condition, from_quiet_microphone
from wakeword_experiments.two_stages.measured_rooms import in_rooms, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import SNR, recording_of
from wakeword_experiments.two_stages.weighing_rules import (
    FLOOR,
    RATE,
    Looks,
    WordLooks,
    learned_weights,
    recall,
    recall_by_surprise,
    weighted,
)
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.training_record import file_stem
from wakeword_train.config import TrainConfig
from wakeword_train.ear import ear_of
from wakeword_train.pipeline import train_model
from wakeword_train.recipe import default_recipe
from wakeword_train.second_stage.evidence import (
    PROBE,
    Evidence,
    EvidenceReader,
    best_of_span,
    candidate_runs,
    window_logits,
)
from wakeword_train.second_stage.fusion_fit import PRIOR_WEIGHTS
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.training_run import DataFolders, TrainingEvents

log = logging.getLogger(__name__)

EARLIER = (1.0, 0.9, 1.5)
"""About the weights that trainings found when they began at 1, 1 and 1.5 and followed synthetic voices."""
_GATES = {"100": 100.0, "350": 350.0}
"""Candidates an hour of strangers' speech."""


def word_looks(word: str, audio: Path, speech: Sequence[Path], work: Path, report: Line) -> WordLooks:
    """Train a word from its text alone, unless its model is in ``work`` already, and hear people and strangers."""
    config = dataclasses.replace(default_recipe(), keyword=word)
    path = work / f"{file_stem(word)}.onnx"
    if not path.is_file():
        train_model(config, DataFolders(), path, work=work / "runs", events=TrainingEvents(report))
    model = read_model(path)
    stage = model.second_stage
    if stage is None:
        raise DataError(f"{path}: expected a model of two stages, got one of one stage; leave {word!r} out")
    store = strangers_speech(config, speech)
    sounds = [store.wave(row) for row in range(len(store))]
    report(f"{word}: {store.hours:.1f} h of speech")
    logits = [window_logits(model, sound) for sound in sounds]
    best = [best_of_span(one, stage.card.span) for one in logits]
    gates = {name: _gate(best, rate * store.hours) for name, rate in _GATES.items()}
    reader = _reader(model, stage, config, min(gates.values()))
    report(f"{word}: people")
    people = {
        condition: [_looks(reader.read(sound, window_logits(model, sound)), reader) for sound in some]
        for condition, some in conditions_of(people_of(audio, word), audio).items()
    }
    background = [_looks(reader.read(sound, one), reader) for sound, one in zip(sounds, logits, strict=True)]
    fusion = stage.card.fusion
    weights = (fusion.stage_one, fusion.embedding, fusion.phonemes)
    return WordLooks(word, gates, people, background, store.hours, weights)


def _gate(best: Sequence[Scores], runs: float) -> float:
    """The lowest gate, in tenths, that begins at most so many looks."""
    gates = np.arange(12.0, -12.0, -0.1).tolist()
    # Only down to the first that begins more: far below, one look goes on for ever.
    passing = takewhile(lambda gate: sum(candidate_runs(one, gate) for one in best) <= runs, gates)
    return round(min(passing, default=12.0), 1)


def _reader(model: Model, stage: SecondStage, config: TrainConfig, gate: float) -> EvidenceReader:
    """Asks the second stage from another gate on, and the phonemes, weighed or not, wherever they could matter."""
    ear = ear_of(config.language)
    ways = SpokenKeyword.of(config).variants(ear.network.tokens, ear.costs)
    card = dataclasses.replace(
        stage.card,
        gate=gate,
        phonemes_digest=ear.digest,
        phonemes=tuple(way.variant for way in ways),
        phoneme_losses=tuple(way.losses for way in ways),
    )
    return EvidenceReader(SecondStage(card, stage.head, stage.embedding, ear.network), model.card.window, probe=PROBE)


def _looks(evidence: Evidence, reader: EvidenceReader) -> Looks:
    windows = np.flatnonzero(evidence.best >= reader.stage.card.gate)
    parts = (windows, evidence.best[windows], evidence.embedding[windows], evidence.phonemes[windows])
    return np.stack([np.asarray(part, np.float64) for part in parts], axis=1)


def conditions_of(files: Sequence[Path], audio: Path) -> dict[str, list[Array]]:
    """The recordings as they are, in noise, from a quiet microphone in 16 bits and, where rooms are given, in these.

    The same for every run.
    """
    mixer = NoiseMixer(sorted(audio_files(audio / "noise")), warn=log.warning)
    clean = [read_audio(path) for path in files]
    noisy = [mixer.mix(one, recording_of(path), snr=SNR) for one, path in zip(clean, files, strict=True)]
    found = {"clean": clean, "noisy": noisy, "quiet": from_quiet_microphone(clean)}
    if (audio / "rooms").is_dir():
        said = in_rooms([Condition("", "", one) for one in clean], read_rooms(audio / "rooms"))
        found["room"] = [one.samples for one in said]
    return found


def judged(words: Sequence[WordLooks]) -> dict[str, Any]:
    """The record: by word and rule, the share of people found at ``RATE`` false accepts an hour of the same speech."""
    rows: dict[str, Any] = {}
    for word in words:
        others = [one for one in words if one is not word]
        own = {f"as before, {gate}": recall(word, gate, weighted(EARLIER)) for gate in _GATES}
        own |= {f"usual, {gate}": recall(word, gate, weighted(PRIOR_WEIGHTS.tolist())) for gate in _GATES}
        own["own, 350"] = recall(word, "350", weighted(word.weights))
        own |= {f"surprises, {gate}": recall_by_surprise(word, gate) for gate in _GATES}
        if others:
            learned = learned_weights(others, "350")
            own["learned on the others, 350"] = recall(word, "350", weighted(learned))
            rows.setdefault("learned", {})[word.word] = learned
        rows.setdefault("words", {})[word.word] = {
            "recordings": len(word.people["clean"]),
            "hours": word.hours,
            "gates": dict(word.gates),
            "weights": list(word.weights),
            "passes": {
                gate: {
                    name: float(np.mean([bool((one[:, 1] >= least).any()) for one in some]))
                    for name, some in word.people.items()
                }
                for gate, least in word.gates.items()
            },
            "rules": own,
        }
    return {**rows, "rate": RATE, "floor": FLOOR, "learned_on_all": learned_weights(words, "350")}


def weighing_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    rules = list(next(iter(record["words"].values()))["rules"])
    rows = [f"| | recordings | {' | '.join(rules)} |", "| --- | ---: |" + " ---: |" * len(rules)]
    for word, own in record["words"].items():
        cells = [" / ".join(f"{100 * share:.0f}" for share in own["rules"][rule].values()) for rule in rules]
        rows.append(f"| {word} | {own['recordings']} | {' | '.join(cells)} |")
    means = []
    for rule in rules:
        shares = [list(own["rules"][rule].values()) for own in record["words"].values()]
        means.append(" / ".join(f"{100 * share:.0f}" for share in np.mean(shares, axis=0)))
    rows.append(f"| **mean** | | {' | '.join(means)} |")
    hours = min(own["hours"] for own in record["words"].values())
    learned = ", ".join(f"{word} {_text(weights)}" for word, weights in record.get("learned", {}).items())
    return "\n".join(
        [
            "# How the parts are weighed",
            "",
            "Words of which models heard the text alone (`wakeword train WORD`, seed 0); people whom no part has heard, "
            "as they are / in noise at 10 dB / from a microphone 20 dB quieter, in per cent, at "
            f"{record['rate']:g} false accepts an hour of {hours:.1f} h of strangers' speech. The number after a rule is "
            "the candidates an hour that its gate lets pass. *As before* and *usual* are weighted sums of the first "
            "stage's logit, the head's and the phonemes' "
            f"score, {_text(EARLIER)} and {_text(PRIOR_WEIGHTS.tolist())}; *own* the sum with the weights of the model "
            "itself, in which the phonemes weigh as voices' tell the word from the speech of the training; *surprises* the "
            "sum of minus the logarithm of how many candidates an hour reach each part, from one half of the speech, "
            "judged on the other; *learned on the others* the weights of a grid that find most people of the other words.",
            "",
            *rows,
            "",
            f"Learned without a word: {learned}. Learned on all: {_text(record['learned_on_all'])}.",
            "",
            f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).",
            "",
        ]
    )


def _text(weights: Sequence[float]) -> str:
    return "(" + ", ".join(f"{weight:g}" for weight in weights) + ")"


def write_looks(path: Path, word: WordLooks) -> None:
    """Keep the looks of a word, as JSON: they take minutes to make."""
    content = {
        "word": word.word,
        "gates": dict(word.gates),
        "people": {name: [one.tolist() for one in some] for name, some in word.people.items()},
        "background": [one.tolist() for one in word.background],
        "hours": word.hours,
        "weights": list(word.weights),
    }
    path.write_text(json.dumps(content))


def read_looks(path: Path) -> WordLooks:
    """What ``write_looks`` wrote. Raises ``DataError`` for what an earlier version wrote."""
    content = json.loads(path.read_text())
    if missing := {field.name for field in dataclasses.fields(WordLooks)} - set(content):
        raise DataError(f"{path}: expected looks with {', '.join(sorted(missing))}, found none; delete the file")

    def looks(rows: list[list[float]]) -> Looks:
        return np.array(rows, np.float64).reshape(-1, 4)

    people = {name: [looks(one) for one in some] for name, some in content["people"].items()}
    return WordLooks(
        content["word"],
        content["gates"],
        people,
        [looks(one) for one in content["background"]],
        content["hours"],
        content["weights"],
    )


def measure_weighing(
    words: Sequence[str], audio: Path, speech: Sequence[Path], work: Path, out: Path, *, command: str, report: Line
) -> None:
    """Hear each word, unless ``work`` has what was heard, and write the record and the page to ``out``."""
    work.mkdir(parents=True, exist_ok=True)
    heard = []
    for word in words:
        kept = work / f"{file_stem(word)}.looks.json"
        if not kept.is_file():
            made = word_looks(word, audio, speech, work, report)
            with replacing(kept) as temporary:
                write_looks(temporary, made)
        heard.append(read_looks(kept))
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions(),
        "command": command,
        **judged(heard),
    }
    write_json(out / "weighing.json", record)
    with replacing(out / "weighing.md") as temporary:
        temporary.write_text(weighing_page(record, figures="weighing.json"), encoding="utf-8")
