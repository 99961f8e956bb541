"""The page of accuracy for users, from the records of all words."""

from collections.abc import Mapping, Sequence
from typing import Any

from wakeword_experiments.two_stages.stage_folds_page import folds_name, folds_recall, folds_sentence
from wakeword_experiments.two_stages.two_stages_measure import interval_of

Record = Mapping[str, Any]

_CHOICE = (
    "## Which threshold to take",
    "",
    "- The default, for a microphone that is always on: its name says how many false accepts an hour it keeps in speech "
    "without much noise.",
    "- `--point fpr=0.03` for recordings of single words, or where speech is rare: it may fire often in an hour of talk.",
    "- Better than either: [calibrate](calibration.md) on hours of sound from your own rooms. If the model misses you, "
    "[fine-tune it on your own voice](enrolment.md).",
    "",
)
_CLOSE = (
    "- **Close words** come from the speech engines of training, in other voices and texts. On words from a dictionary by "
    "engines new to training they fire in 3.0 % (`dictionary-words.md`)."
)
_LIMITS = (
    "- **The collections**: people of the test said the word into the same collections that training used. Amid a "
    "sentence, cut close, at 8 kHz or from some metres away words are found less often (`collections.md`).",
    _CLOSE,
    "- **Speech unlike the speech of training** wakes a model more often than it promises (`unheard.md`). Television was "
    "not measured.",
    "- **`wakeword info` and `wakeword models`** show other figures: what the threshold was chosen on, by other people.",
    "- **One training run** of each model. The phoneme recogniser that ships was made after these figures "
    "(`text-alone.md`).",
)
_LIMITS_AT_LENGTH = (
    "## Limits",
    "",
    "- **Who speaks.** Some fifty people say alexa, computer and jarvis, and their names are unknown. They were told apart "
    "by the sound of their voices, which is a guess. On people with known names and shorter recordings, such a guess puts "
    "a voice of training into half of the tests ([groups](voice-groups.md)).",
    _CLOSE.replace("`dictionary-words.md`", "[dictionary](dictionary-words.md)"),
    "- **The corpora of training.** Words without any recording in training are in [unheard](unheard.md), and the same "
    "words from elsewhere in [collections](collections.md).",
    "- **Speech unlike the speech of training.** An earlier recipe trained three words without the collection of "
    "second-language speakers. The models promise one false accept an hour; two of the three give three to four there "
    "([unheard](unheard.md)).",
    "- **Which utterances hold the word** is decided by their texts. For 1.1 h, one utterance each of 261 readers, the "
    "text is what PocketSphinx heard, and it errs in one word of four or five. A false accept in what it took for the word "
    'is not counted; at least one of "seven" may be.',
    "- **The encoder** that the first stage begins with has heard 55 % of the speech and of the words' recordings, without "
    'their texts. It has heard nobody who says "marvin".',
    "- **Noise** was mixed in afterwards, into read speech.",
    '- **The word of the examples** is "jarvis": two people alone say "marvin" here, and "alexa" is the trade mark of a '
    "voice assistant.",
    '- **The formant voices of `demo.flac`**: "marvin" finds 6 of 7 there at its default, and fires once in 14 words that '
    "sound like it (`wakeword scan --keyword marvin assets/audio/demo.flac`).",
    "- **The phoneme recogniser** that ships was made after these figures, and some of these people taught it. At the same "
    "thresholds the words find as many recordings or more with it ([text alone](../text-alone.md)).",
    "- More: [what was tried](accuracy-notes.md), [peers and earlier models](one-stage.md), [strangers](strangers.md) and "
    "the [paper's close words](close-words.md).",
)


def accuracy_page(record: Record, *, figures: str, folds: Sequence[Record] = ()) -> str:
    """``docs/accuracy.md``; ``figures`` is the record's name, and ``folds`` are those of words that few people say."""
    words: Sequence[Record] = record["words"]
    hours = min(word["stages"]["both"]["cross_validated"]["hours"] for word in words)
    parts = [
        "# Accuracy",
        "",
        "How often the included models hear their word, and how often they are wrong, at their default thresholds. "
        "No model was trained on the people who say its word here.",
        "",
        *_headline(words, hours),
        "",
        "## What the figures mean",
        "",
        "- **Found**: recordings of the word that the model finds, and the people who made them. In noise, a noise of the "
        "test is mixed in 10 dB below the word.",
        f"- **Fired**: detections in {hours:.1f} h of talk of {record['speakers']} people without the word. A third of "
        "them speak English as a second language, and half of these are children. Each recording is judged by networks "
        "that did not learn from it, at a threshold that was chosen on other people's speech.",
        "- **Recall**: found recordings in percent, as recorded / in noise. Brackets: the 95 % interval as "
        f"recorded{_grouped(words)}.",
        "- **Close words, other words**: the share of single clips of words that sound like the wake word, and of any "
        "other words, that make the model fire.",
        "- **Delay**: the time from the end of the word to the report, median / 95 %. A negative one means that the model "
        "reports before the end.",
        "- **Looks an hour**: how often the second stage works in an hour of talk ([two stages](two-stages.md)).",
        "- **Point**: the name of a threshold, and [what it promises](calibration.md#what-a-threshold-promises). "
        "`fpr=0.03` fires on 3 % of single clips, the mean of other and close words.",
        "",
        "## Recall",
        "",
        *_people(words),
        "",
        "## False accepts",
        "",
        *_silence(words),
        "",
        *noisy_speech_lines(words),
        *_CHOICE,
        "## Limits",
        "",
        f"- **Few people** were at hand, as the intervals say. {_of_folds(folds)}",
        *_LIMITS,
        "",
        f"Made on {record['date']}. The files that this page names are in `train/evidence`. There `results/{figures}.json` "
        f"has every figure, and `results/{figures}.md` the command, what each stage finds and the limits at length.",
        "",
    ]
    return "\n".join(parts)


def stages_page(record: Record, *, figures: str, folds: Sequence[Record] = ()) -> str:
    """``results/two-stages.md``: what stands behind the page of accuracy and what few users need."""
    words: Sequence[Record] = record["words"]
    parts = [
        "# Behind the page of accuracy",
        "",
        "[Accuracy](../../../docs/accuracy.md) says what the included models find; this page what their parts find, and "
        "how far the figures hold.",
        "",
        "## What the second stage adds",
        "",
        "Recall of the validation recordings (people / synthetic voices) at half a false accept an hour, and the share of "
        "close words that fire there. The fusion is fitted anew for each column.",
        "",
        *_parts(words),
        "",
        "## Words that few people say",
        "",
        *(line for one in folds for line in (folds_sentence(one, page=f"{folds_name(one['keyword'])}.md"), "")),
        *_LIMITS_AT_LENGTH,
        "",
        f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).",
        "",
    ]
    return "\n".join(parts)


def _of_folds(folds: Sequence[Record]) -> str:
    """What the recipes of words that few people say find, trained without a part of these people at a time."""
    if not folds:
        return ""
    found = ", ".join(f'"{one["keyword"]}" {folds_recall(one)}' for one in folds)
    return (
        "Trained anew without a part of their people at a time, and tested on these, the recipes of two words find, as "
        f"recorded / in noise: {found}."
    )


def _grouped(words: Sequence[Record]) -> str:
    """What the intervals of recall are by, if the record has them by speaker."""
    clean = [word["stages"]["both"]["points"]["default"]["people"]["clean"] for word in words]
    grouped = all("by_group" in shared for shared in clean)
    return ", by speaker, because a person's recordings are alike" if grouped else ""


def _headline(words: Sequence[Record], hours: float) -> list[str]:
    """The table for readers who know none of the terms; it stands in the README too."""
    rows = [
        f"| word | found, in recordings of people | in noise | fired in {hours:.1f} h of talk |",
        "| --- | --- | --- | --- |",
    ]
    for word in words:
        both, of = word["stages"]["both"], word["people"]
        people = both["points"]["default"]["people"]
        events = both["cross_validated"]["events"]
        rows.append(
            f"| {word['keyword']} | {people['clean']['found']} of {of['clips']} recordings of {of['speakers']} people | "
            f"{people['noisy']['found']} of {of['clips']} | {events} {'time' if events == 1 else 'times'} |"
        )
    return rows


def _people(words: Sequence[Record]) -> list[str]:
    rows = [
        "| | default | at `fpr=0.03` | first stage alone | delay |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for word in words:
        both, first = word["stages"]["both"], word["stages"]["first"]
        delay = both["delay"]
        late = "" if delay is None else f"{1000 * delay['median']:.0f} / {1000 * delay['p95']:.0f} ms"
        rows.append(
            f"| {word['keyword']} | {_recall(both['points']['default'], interval=True)} | "
            f"{_recall(both['points'].get('fpr=0.03'))} | {_recall(first['points']['default'])} | {late} |"
        )
    return rows


def _silence(words: Sequence[Record]) -> list[str]:
    rows = [
        "| | default point | fired an hour (95 %) | first stage alone | close words | other words | looks an hour |",
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
    """False accepts an hour in the speech as recorded and in noise, of the words that were measured so."""
    measured = [word for word in words if _is_measured(word.get("noisy_speech", {}))]
    if not measured:
        return []
    ratios = list(measured[0]["noisy_speech"])
    rows = [
        "**These rates hold for speech without much noise.** With a noise of the test 20 or 10 dB below the mean level of "
        "the speech, at the threshold of the model file, which was chosen on this very speech:",
        "",
        f"| fired an hour | no noise | {' | '.join(f'noise at {ratio} dB (95 %)' for ratio in ratios)} |",
        "| --- | ---: |" + " ---: |" * len(ratios),
    ]
    for word in measured:
        noisy = [word["noisy_speech"][ratio] for ratio in ratios]
        clean = word["stages"]["both"]["points"]["default"]
        rates = " | ".join(_per_hour(at) for at in noisy)
        rows.append(f"| {word['keyword']} | {_per_hour(clean, interval=False)} | {rates} |")
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
