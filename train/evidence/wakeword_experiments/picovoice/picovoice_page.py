"""The page of the benchmark: words missed at 0.1 false alarms an hour, and what stands in for its own sounds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

FROM_TEXT, TRAINED = "wakeword, from its text at once", "wakeword, trained from its text"
"""What models of a text are called."""
_PUBLISHED = (
    "Published by others for this protocol, with the benchmark's own speech and noise, as means over its six words at 0.1 "
    "an hour: Porcupine 2.7 %, Snowboy 31.9 % and PocketSphinx 52.0 % ([the benchmark]"
    "(https://github.com/Picovoice/wake-word-benchmark)); from text alone Hark 0.3 21.9 % and sherpa-onnx 34.0 % "
    '([Hark](https://github.com/pioborgelt/hark/releases)). microWakeWord\'s own curve of its "alexa" '
    "misses 8.1 % at 0.1 an hour and 3.5 % at 0.5. Its figures here are worse: a part of the recordings of the word was at "
    "hand, and the noises are short ones of machines, animals and households, where DEMAND has steady ones of 18 places. "
    "So compare only within the table."
)


def picovoice_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    words = record["words"]
    rates = list(words[0]["engines"][0]["missed"])
    speech = ", ".join(sorted({name for word in words for name in word["speech"]}))
    noise = ", ".join(sorted({name for word in words for name in word["noise"]}))
    hours = min(word["hours"] for word in words)
    rows = [
        f"| word | engine | {' | '.join(f'missed at {rate} an hour' for rate in rates)} |",
        f"| --- | --- | {' | '.join('---:' for _ in rates)} |",
    ]
    for word in words:
        rows += [
            f"| {word['word']} | {one['engine']} | {' | '.join(_missed(one['missed'][rate]) for rate in rates)} |"
            for one in word["engines"]
        ]
    for name in (FROM_TEXT, TRAINED):
        own = [one["missed"] for word in words for one in word["engines"] if one["engine"] == name]
        if len(own) > 1:
            means = " | ".join(f"{100 * float(np.mean([missed[rate][0] for missed in own])):.1f} %" for rate in rates)
            rows.append(f"| **mean of {len(own)}** | {name} | {means} |")
    files = [
        f"{word['word']} {word['recordings']} recordings in {word['hours']:.1f} h, {word['hours_heard']:.1f} h of them "
        f"speech, {word['left_out']} utterances with the word left out"
        for word in words
    ]
    head = (
        "# The benchmark of Picovoice",
        "",
        "Its protocol: one file for each word, with all its recordings among other speech, of which a part is heard with "
        "probability 0.2, in noise throughout; the loudest 512 samples of each part are 10 dB above those of the noise "
        "under it. A detection counts until half a second after the end. LibriSpeech test-clean and DEMAND are replaced by "
        f"{speech} (speech) and {noise} (noise). Further departures: {hours:.0f} h a word in place of 24; utterances in "
        "which the word is said are left out; pauses 40 dB below the loudest frame of a noise are cut out; several "
        "detections of one word count once, up to 2 s after its end; a score is judged each 160 ms. Brackets: 95 % "
        "intervals by recording and minute; the recordings name no speakers, so that true intervals are wider.",
        "",
    )
    foot = (
        "",
        f"Files: {'; '.join(files)}.",
        "",
        _PUBLISHED,
        "",
        f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).",
        "",
    )
    return "\n".join([*head, *rows, *foot])


def _missed(figure: list[float]) -> str:
    share, low, high = (100 * value for value in figure)
    return f"{share:.1f} % ({low:.1f} to {high:.1f})"
