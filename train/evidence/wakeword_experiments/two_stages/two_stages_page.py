"""The page of accuracy for users, from the records of all words."""

from collections.abc import Mapping, Sequence
from typing import Any

from wakeword_experiments.two_stages.stage_folds_page import folds_name, folds_sentence
from wakeword_experiments.two_stages.two_stages_measure import interval_of

Record = Mapping[str, Any]

_CHOICE = (
    "## Which threshold to take",
    "",
    "- The default, for a microphone that is always on: it is named by the false accepts an hour that it keeps in "
    "speech without much noise.",
    "- `--point fpr=0.03` for recordings of single words, or where speech is rare: it may fire often in an hour of talk.",
    "- Better than either: [calibrate](calibration.md) on hours of sound from your own rooms. If the model misses you, "
    "[fine-tune it on your own voice](enrolment.md).",
    "",
)
_LIMITS = (
    "## Limits",
    "",
    "- **Few people**: the recordings of the test are few, as the intervals say. In those of alexa, computer and jarvis "
    "some fifty people say all the words, without names; they were dealt by the sound of their voices, which is a guess: "
    "of people whose names are known, and whose recordings are shorter, half of a test dealt that way has a voice of "
    "training ([groups of voices](results/voice-groups.md)).",
    "- **The corpora of training**: the people of the test said the word into the same collections of recordings that "
    "training used, and the close words come from the speech engines of training, in other voices and texts: on words "
    "from a dictionary by engines new to training they fire in 3.0 % ([a dictionary's](results/dictionary-words.md)). "
    "[Unheard](results/unheard.md) has words without any recording in training, and [other "
    "collections](results/collections.md) the same words elsewhere.",
    "- **Speech unlike that of training**: of three words that an earlier recipe trained without the collection of "
    "second-language speakers, which promise one false accept an hour, two give three to four an hour in it "
    "([unheard](results/unheard.md)).",
    "- **Other figures of the same models**: `wakeword info` and `wakeword models` show what a threshold was chosen on: "
    "the validation's recordings, of other people, and the events at that very threshold.",
    "- **Which utterances are left out** is decided by their texts. Those of 1.1 h, one utterance each of 261 readers, "
    "are what PocketSphinx heard, which is wrong in one word of four or five: a false accept in what it took for the "
    'word is not counted. At least one of "seven" may be.',
    "- **Single words**: amid a sentence, or cut close, the words are found far less often, and some at 8 kHz ([other "
    "collections](results/collections.md)).",
    "- **The encoder** with which the first stage begins has heard 55 % of the speech and of the words' recordings, "
    'without being told what is said, but nobody who says "marvin".',
    "- **Read speech, and noise mixed in afterwards**: television was not measured, and from some metres away fewer "
    "words are found ([in a measured room](results/collections.md)).",
    "- **One training run** of each model. [What was tried](results/accuracy-notes.md), [peers and earlier "
    "models](results/one-stage.md), [strangers](results/strangers.md), [words and speech of which training heard "
    "nothing](results/unheard.md), [the paper's close words](results/close-words.md).",
)


def accuracy_page(record: Record, *, figures: str, peers: Record | None = None, folds: Sequence[Record] = ()) -> str:
    """``docs/accuracy.md``; ``figures`` is a link to the record, ``peers`` the record of other engines, and ``folds`` are
    those of words that few people say."""
    words: Sequence[Record] = record["words"]
    hours = min(word["stages"]["both"]["cross_validated"]["hours"] for word in words)
    parts = [
        "# Accuracy",
        "",
        "Recall is the share of recordings of the word that an included model finds, as recorded / with noise 10 dB below "
        "the word, said by people whom no part of it was trained on. False accepts are counted in "
        f"{hours:.1f} h of speech of {record['speakers']} people, a third of them second-language speakers and half of "
        "these children, each judged by a first stage and a head that were not trained on them, at thresholds chosen on "
        "the speech of others. Utterances in which the word is said are left out.",
        "",
        *_people(words),
        "",
        f"In brackets: the 95 % interval as recorded{_grouped(words)}. The thresholds "
        "are the models' own: `fpr=0.03` is the mean of the rates on other and on close words. The default keeps its rate "
        "in speech like this with a probability of at least 80 %.",
        "",
        *_silence(words),
        "",
        *noisy_speech_lines(words),
        *(() if peers is None else (_peers(peers), "")),
        *(line for one in folds for line in (folds_sentence(one, page=f"results/{folds_name(one['keyword'])}.md"), "")),
        "## What the second stage adds",
        "",
        "Recall of the validation recordings (people / synthetic voices) at half a false accept an hour, and close words "
        "that fire there, with the fusion fitted anew for each column:",
        "",
        *_parts(words),
        "",
        *_CHOICE,
        *_LIMITS,
        "",
        f"Made by `{record['command']}` on {record['date']}. Every figure: [{figures.rsplit('/', 1)[-1]}]({figures}).",
        "",
    ]
    return "\n".join(parts)


def _peers(record: Record) -> str:
    """A sentence about other engines."""
    found = [
        f"{peer['name']} {_recall(at, interval=True)}, {_per_hour(at)} an hour, close words {_share(at['close'])}"
        for peer in record["peers"]
        if (at := peer["at_cutoff"])
    ]
    hours = min(peer["at_cutoff"]["hours"] for peer in record["peers"])
    return (
        f"On the same recordings of {record['keyword']}, in {hours:.1f} h of this speech, at the thresholds of their "
        f"makers: {'; '.join(found)} ([other engines](results/peers.md))."
    )


def _grouped(words: Sequence[Record]) -> str:
    """What the intervals of recall are by, if the record has them by speaker."""
    clean = [word["stages"]["both"]["points"]["default"]["people"]["clean"] for word in words]
    grouped = all("by_group" in shared for shared in clean)
    return ", by speaker, because a person's recordings are alike" if grouped else ""


def _people(words: Sequence[Record]) -> list[str]:
    rows = [
        "| | people | `fpr=0.03` | default | first stage alone, its default | delay, median / 95 % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for word in words:
        both, first = word["stages"]["both"], word["stages"]["first"]
        delay = both["delay"]
        late = "" if delay is None else f"{1000 * delay['median']:.0f} / {1000 * delay['p95']:.0f} ms"
        rows.append(
            f"| {word['keyword']} | {word['people']['clips']} of {word['people']['speakers']} | "
            f"{_recall(both['points'].get('fpr=0.03'))} | {_recall(both['points']['default'], interval=True)} | "
            f"{_recall(first['points']['default'])} | {late} |"
        )
    return rows


def _silence(words: Sequence[Record]) -> list[str]:
    rows = [
        "| | default | false accepts an hour (95 %) | first stage alone | close words | other words | looks an hour |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for word in words:
        both, first = word["stages"]["both"], word["stages"]["first"]
        at = both["points"]["default"]
        rows.append(
            f"| {word['keyword']} | `{at['name']}` | {_per_hour(both['cross_validated'])} | "
            f"{_per_hour(first['cross_validated'], interval=False)} | {_share(at['close'])} | {_share(at['others'])} | "
            f"{word['candidates_per_hour'] or 0:.0f} |"
        )
    return rows


def noisy_speech_lines(words: Sequence[Record]) -> list[str]:
    """False accepts an hour in the speech as recorded and in noise, of the words of which they were measured."""
    measured = [word for word in words if _is_measured(word.get("noisy_speech", {}))]
    if not measured:
        return []
    ratios = list(measured[0]["noisy_speech"])
    rows = [
        "**These rates hold for speech without much noise.** In the same recordings with one of the test's noises each, 20 "
        "or 10 dB below the mean level of the speech, some fire far more often. False accepts an hour at the model's own "
        "default threshold, which was chosen on this speech as recorded:",
        "",
        f"| | as recorded | {' | '.join(f'noise at {ratio} dB (95 %)' for ratio in ratios)} | looks an hour there |",
        "| --- | ---: |" + " ---: |" * (len(ratios) + 1),
    ]
    for word in measured:
        noisy = [word["noisy_speech"][ratio] for ratio in ratios]
        clean = word["stages"]["both"]["points"]["default"]
        looks = " / ".join(f"{at['candidates_per_hour']:.0f}" for at in noisy)
        rates = " | ".join(_per_hour(at) for at in noisy)
        rows.append(f"| {word['keyword']} | {_per_hour(clean, interval=False)} | {rates} | {looks} |")
    return [*rows, ""]


def _is_measured(noisy: Record) -> bool:
    return bool(noisy) and all(at["per_hour"] for at in noisy.values())


def _parts(words: Sequence[Record]) -> list[str]:
    # In the order of a word that has all of them: some do without phonemes.
    names = max((list(word["parts"]) for word in words), key=len)
    rows = [f"| | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    for word in words:
        cells = []
        for name in names:
            part = word["parts"].get(name)
            if part is None:
                cells.append("")
                continue
            voices = "" if part["synthetic"] is None else f" / {100 * part['synthetic']['rate']:.0f}"
            close = "" if part["close"] is None else f"; {100 * part['close']['rate']:.1f} %"
            cells.append(f"{100 * part['recall']['rate']:.0f}{voices} %{close}")
        rows.append(f"| {word['keyword']} | {' | '.join(cells)} |")
    return rows


def _recall(point: Record | None, *, interval: bool = False) -> str:
    if point is None or not point["people"]:
        return ""
    clean, noisy = point["people"]["clean"], point["people"]["noisy"]
    low, high = interval_of(clean)
    shown = f" ({100 * low:.0f} to {100 * high:.0f})" if interval else ""
    return f"{100 * clean['rate']:.0f} / {100 * noisy['rate']:.0f} %{shown}"


def _per_hour(counted: Record, *, interval: bool = True) -> str:
    if counted["per_hour"] is None:
        return ""
    rate, low, high = counted["per_hour"]
    return f"{rate:.2f}" + (f" ({low:.2f} to {high:.2f})" if interval else "")


def _share(some: Record) -> str:
    return f"{100 * some['clean']['rate']:.1f} %" if some else ""
