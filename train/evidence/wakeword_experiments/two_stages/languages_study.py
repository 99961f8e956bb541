"""What of other languages than English is heard with nothing new learnt: by the phonemes, and by the included words.

*Told*: recordings of people who say a word are compared with recordings of the other words of the same people, by how well
the word's phonemes, which its language's dictionary gives, fit what the recogniser hears. The area under the curve is the
chance that a recording of the word fits better than one of another word: a half where the recogniser tells nothing.
"""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword.base.poisson import poisson_rate
from wakeword.model.installed import encoders_folder
from wakeword.model.model import load_model
from wakeword.verify.phoneme_verifier import KeywordPhonemes, PhonemeNetwork
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_experiments.two_stages.anyword import collection_speaker
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.measure.scores import events_at, stream_scores
from wakeword_tools.texts.recogniser import RecognisedWay, foreign_variants, recogniser_variants

INCLUDED = ("alexa", "computer", "jarvis", "marvin", "seven", "stop")


def measure_languages(
    words: Sequence[str], speech: Sequence[Path], figures: Path, *, most: int, command: str, report: Line
) -> None:
    """Write the figures and their page. ``words``: ``LANGUAGE:FOLDER=TEXT``; ``most`` recordings of each are heard.

    ``speech``: folders of other languages, in which the included words' false accepts are counted.
    """
    path = encoders_folder() / PHONEMES_FILE
    network = load_phonemes(path, file_digest(path))
    by_language: dict[str, dict[Path, str]] = {}
    for word in words:
        language, _, rest = word.partition(":")
        folder, _, said = rest.partition("=")
        by_language.setdefault(language, {})[Path(folder)] = said
    record = {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "told": [row for code, own in by_language.items() for row in _told(code, own, network, most, report)],
        "included": [_included(folder, report) for folder in speech],
    }
    write_json(figures, record)
    with replacing(figures.with_suffix(".md")) as temporary:
        temporary.write_text(languages_page(record, figures=figures.name), encoding="utf-8")


def _told(
    code: str, words: Mapping[Path, str], network: PhonemeNetwork, most: int, report: Line
) -> list[dict[str, Any]]:
    files = {folder: _spread(audio_files(folder), most) for folder in words}
    heard = {folder: [network.log_probabilities(read_audio(path)) for path in some] for folder, some in files.items()}
    rows = []
    for folder, said in words.items():
        ways: tuple[RecognisedWay, ...] = (
            recogniser_variants(said, network.tokens)
            if code == ENGLISH
            else foreign_variants(said, code, network.tokens)
        )
        keyword = KeywordPhonemes([way.variant for way in ways], network.tokens, [way.losses for way in ways])
        fits = {other: np.array([keyword.score(one) for one in some]) for other, some in heard.items()}
        own, others = fits[folder], np.concatenate([some for other, some in fits.items() if other != folder])
        rows.append(
            {
                "language": code,
                "word": folder.name,
                "said": said,
                "phonemes": len(ways[0].variant),
                "recordings": len(own),
                "people": len({collection_speaker(path) for path in files[folder]}),
                "own": float(np.median(own)),
                "others": float(np.median(others)),
                "auc": float((own[:, None] > others).mean() + (own[:, None] == others).mean() / 2),
            }
        )
        report(f"{code} {folder.name}: {rows[-1]['auc']:.2f}")
    return rows


def _spread(files: Sequence[Path], most: int) -> list[Path]:
    return [files[place] for place in np.unique(np.linspace(0, len(files) - 1, most).round().astype(int))]


def _included(folder: Path, report: Line) -> dict[str, Any]:
    """The included words' events at their default points in the recordings of a folder."""
    sounds = [read_audio(path) for path in audio_files(folder)]
    hours = sum(map(len, sounds)) / SAMPLE_RATE / 3600
    events = {}
    for word in INCLUDED:
        model = load_model(word)
        events[word] = events_at([stream_scores(model, sound) for sound in sounds], model.card.point().threshold)
        report(f"{folder.name}: {word} {events[word]}")
    return {"speech": folder.name, "hours": hours, "events": events}


def languages_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    lines = [
        "# Other languages",
        "",
        "How well the phonemes of a word tell recordings of people who say it from recordings of the other words of its "
        "language: the chance that the word's own recording fits better (0.50: nothing is told). The recogniser has learnt "
        "English alone, and no model was trained. Texts are ours: the collections name the words in English or in Latin "
        "letters.",
        "",
        "| language | word | text | phonemes | recordings (people) | fit of its own, of others | told |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in record["told"]:
        lines.append(
            f"| {row['language']} | {row['word']} | {row['said']} | {row['phonemes']} | {row['recordings']} "
            f"({row['people']}) | {row['own']:.1f}, {row['others']:.1f} | {row['auc']:.2f} |"
        )
    for code in dict.fromkeys(row["language"] for row in record["told"]):
        mean = np.mean([row["auc"] for row in record["told"] if row["language"] == code])
        lines.append(f"| **{code}** | mean | | | | | {mean:.2f} |")
    total = sum(one["hours"] for one in record["included"])
    lines += [
        "",
        f"False accepts of the included words at their default points in {total:.1f} h of speech in other languages; the "
        "last row is an hour (95 %).",
        "",
        f"| speech | hours | {' | '.join(INCLUDED)} |",
        f"| --- | ---: |{' ---: |' * len(INCLUDED)}",
    ]
    for one in record["included"]:
        lines.append(
            f"| {one['speech']} | {one['hours']:.2f} | {' | '.join(str(one['events'][word]) for word in INCLUDED)} |"
        )
    cells = []
    for word in INCLUDED:
        count = sum(one["events"][word] for one in record["included"])
        low, high = poisson_rate(count, total)
        cells.append(f"{count / total:.1f} ({low:.1f} to {high:.1f})")
    lines.append(f"| **an hour** | {total:.2f} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""])
