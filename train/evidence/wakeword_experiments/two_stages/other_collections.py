"""Recall of the included models by collection: where training had the word from, and collections that it had nothing of."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import soundfile
import soxr

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.model.model import load_model
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select, write_results
from wakeword_experiments.grouped import grouped_interval
from wakeword_experiments.two_stages.close_words import points_of
from wakeword_experiments.two_stages.conditions import Condition, in_faint_noise, narrowed
from wakeword_experiments.two_stages.measured_rooms import describe_rooms, in_rooms, read_rooms
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import clip_score
from wakeword_tools.transcripts import TranscribedSpeech, read_transcripts
from wakeword_train.config import read_config
from wakeword_train.data.clips import deal_speakers, read_speech_commands
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders

KEYWORDS = ("marvin", "seven", "stop")
"""The included models of which training had the word from Speech Commands."""
WAKE_WORDS = ("alexa", "computer", "jarvis")
"""Those of which it had the word from a collection of wake words."""
COMMANDS, DIGITS, WAKE = "Speech Commands", "Free Spoken Digit Dataset", "Picovoice's wake words"
TALK = ("speechocean762", "ljspeech", "librispeech")
_MARGIN = 0.3
"""Seconds before and after an utterance."""


def people_of_the_test(audio: Path, recipes: Path, keyword: str) -> list[Condition]:
    """The recordings of Speech Commands on the test split of the word's recipe."""
    config = read_config(recipes / f"{keyword}.toml")
    clips = read_speech_commands(audio / "speech_commands", keyword)
    dealt = deal_speakers(clips, validation=config.validation_share, testing=config.test_share)
    own = [clip for clip in dealt if clip.kind is Kind.POSITIVE and clip.split is Split.TEST]
    return [Condition(COMMANDS, clip.speaker, read_audio(clip.path)) for clip in own]


def people_of_the_wake_words(voices: Path, recipes: Path, keyword: str) -> list[Condition]:
    """The recordings of a wake word, dealt by voice, on the test split of the word's recipe."""
    others = [voices / name for name in WAKE_WORDS if name != keyword]
    folders = DataFolders(positives=[voices / keyword], negatives=others)
    clips = gather_clips(read_config(recipes / f"{keyword}.toml"), folders)
    own = [clip for clip in clips if clip.kind is Kind.POSITIVE and clip.split is Split.TEST]
    return [Condition(WAKE, clip.speaker, read_audio(clip.path)) for clip in own]


def recorded_digits(audio: Path, keyword: str) -> list[Condition]:
    """Single words of the digits' collection, at 8 kHz; none for a word that is no digit."""
    files = sorted((audio / "spoken_digits_8k" / keyword).glob("*.wav"))
    return [Condition(DIGITS, path.stem.partition("_")[0], read_audio(path)) for path in files]


def said_in_talk(folders: Sequence[Path], keyword: str) -> list[Condition]:
    """The utterances of folders with transcripts in which the word, and not a longer one, is said."""
    found = []
    for folder in folders:
        wanted: dict[Path, list[TranscribedSpeech]] = {}
        for one in read_transcripts(folder):
            if keyword in re.findall(r"[a-z']+", one.text.lower()):
                wanted.setdefault(one.path, []).append(one)
        for path, utterances in wanted.items():
            rate = soundfile.info(path).samplerate
            collection = next((name for name in TALK if path.name.startswith(name)), TALK[-1])
            for one in utterances:
                # A part alone: the recordings are long, and reading one takes seconds.
                start, stop = (round(rate * at) for at in (max(0.0, one.start - _MARGIN), one.end + _MARGIN))
                samples, _ = soundfile.read(path, start=start, stop=stop, dtype="float32")
                samples = soxr.resample(samples, rate, SAMPLE_RATE)
                found.append(Condition(collection, one.speaker or path.stem.partition("-")[0], samples))
    return found


def measure_collections(
    audio: Path,
    voices: Path | None,
    talk: Sequence[Path],
    recipes: Path,
    out: Path,
    *,
    before: Path | None,
    rooms: Path | None,
    origin: str = "",
    command: str,
    report: Line,
) -> None:
    """Score every recording, and write the page.

    ``voices``: the wake words by voice, if these are wanted; ``before``: the record of earlier models, to stand beside;
    ``rooms``: a folder with the measured responses of rooms, and ``origin`` where they come from.
    """
    began = process_time()
    responses = read_rooms(rooms) if rooms else []
    earlier = json.loads(before.read_text(encoding="utf-8"))["rows"] if before else []
    rows: list[Row] = []
    for keyword in (*KEYWORDS, *(WAKE_WORDS if voices else ())):
        model, threshold = load_model(keyword), points_of(keyword)["default"]["threshold"]
        people, digits = people_of_the_test(audio, recipes, keyword), recorded_digits(audio, keyword)
        people += people_of_the_wake_words(voices, recipes, keyword) if voices and keyword in WAKE_WORDS else []
        distant = in_rooms(people, responses) if responses else []
        said = [*people, *narrowed(people), *distant, *digits, *in_faint_noise(digits), *said_in_talk(talk, keyword)]
        for collection, condition in dict.fromkeys((one.collection, one.condition) for one in said):
            own = [one for one in said if (one.collection, one.condition) == (collection, condition)]
            found = [clip_score(model, one.samples) >= threshold for one in own]
            low, high = grouped_interval(found, [one.speaker for one in own])
            where = {"keyword": keyword, "collection": collection, "condition": condition}
            counts = {"found": sum(found), "of": len(own), "speakers": len({one.speaker for one in own})}
            known = select(earlier, of=len(own), **where)
            rows.append({**where, **counts, "low": low, "high": high, "before": known[0]["found"] if known else None})
            report(f"{keyword}: {collection} {condition} {counts['found']} of {counts['of']}")
    about = f"{describe_rooms(responses)}{f' ({origin})' if origin else ''}" if responses else ""
    collections_page(out, rows, rooms=about, command=command, seconds=process_time() - began)


_ABOUT = {
    COMMANDS: "the word alone; training had recordings of other people",
    WAKE: "the word alone, dealt by voice; training had recordings of others, who may not all be other people",
    DIGITS: "the word alone, cut close at both ends, at 8 kHz; nothing of it in training",
    "speechocean762": "the word in a sentence, by Chinese speakers of English, half of them children; their other "
    "sentences were background",
    "ljspeech": "the word in a sentence of one reader, whose other sentences were background",
    "librispeech": "the word in a sentence of a reader, whose other sentences were background",
}


_BEFORE = (
    '*Before* is "jarvis" before it was trained again, after the phoneme recogniser was taught noise and rooms '
    "([text alone](../text-alone.md)); the other five are the same ([why](accuracy-notes.md#the-six-again))."
)


def collections_page(out: Path, rows: Sequence[Row], *, rooms: str = "", command: str, seconds: float) -> list[Path]:
    """Write the record and the page. ``rooms``: what the responses of rooms are, if there were any."""
    lines = [
        [
            keyword,
            ", ".join(part for part in (row["collection"], row["condition"]) if part),
            _ABOUT[row["collection"]] if not row["condition"] else "the same recordings",
            f"{row['of']} of {row['speakers']}",
            f"{100 * row['found'] / row['of']:.0f} % [{100 * row['low']:.0f}, {100 * row['high']:.0f}]",
            "" if row["before"] is None else f"{100 * row['before'] / row['of']:.0f} %",
        ]
        for keyword in distinct(rows, "keyword")
        for row in select(rows, keyword=keyword)
    ]
    body = [
        "Recall of included models at their default points, by the collection in which the word is said. Of the six words, "
        'only "seven" and "stop" are said in several, and "computer" in two sentences beside its own. Brackets: 95 % '
        "intervals by speaker, from 0 to 100 for a single one.",
        markdown_table(["", "collection", "what it is", "recordings of people", "found", "before"], lines),
        "The first line of a word is that of [accuracy](../../../docs/accuracy.md). *At 8 kHz* and *in faint "
        "noise* (half a second "
        "before and after the word, all in white noise 60 dB below full scale) were added when the digits' "
        "figure was first seen, to look for its reason." + (f" *In a measured room*: {rooms}." if rooms else ""),
        "A score also depends on where the hops of 160 ms fall in a recording: with other silence before it, or in a "
        "stream, single recordings are found that are not found here, and the other way round.",
        *([_BEFORE] if any(row["before"] is not None for row in rows) else ()),
        "In the recipes of alexa, jarvis and seven some of the words stand amid other speech (`talk_probability = 0.2`), "
        "and some of all sound has no high frequencies (`narrow_probability = 0.12`). In a sentence a word is "
        "shorter, and "
        "no pause follows it. For sound that is found badly, [fine-tune](../../../docs/enrolment.md) on some "
        "recordings of it.",
    ]
    return write_results(
        out,
        "collections",
        title="The same words in other collections",
        command=command,
        settings={"points": {keyword: points_of(keyword)["default"] for keyword in distinct(rows, "keyword")}},
        rows=rows,
        body=body,
        seconds=seconds,
    )
