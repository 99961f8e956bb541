"""Fills in the texts that transcripts lack: ``python -m scripts.transcribe FOLDER --out NEW_FOLDER``.

Speech whose text is unknown may hold the keyword, and then counts as a false accept, or teaches a network that the
keyword is another word. The new folder has links to the recordings and a ``transcripts.jsonl`` in which PocketSphinx
(``pip install pocketsphinx``, which brings its model of English) wrote what it heard where the text was empty. It hears
one word in four or five wrongly, which is enough to find most utterances with a given word. ``--whisper FOLDER`` takes a
Whisper in CTranslate2's format in its place (``pip install faster-whisper``), which is exact enough to teach phonemes by:
texts that it is unsure of, and those with digits, stay empty.
"""

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioFileError, ConfigError, DataError
from wakeword.base.files import new_folder, require_absent
from wakeword.base.types import Array
from wakeword_tools.transcripts import TRANSCRIPTS

_MARGIN = 0.2
"""Seconds around an utterance that are heard too."""
_UNSURE = -0.7
"""Mean logarithm of the probability of Whisper's tokens below which it is unsure."""


def transcribe(folder: Path, out: Path, hear: Callable[[Array], str]) -> int:
    """Write ``out``, a new folder, and return the number of texts filled in.

    ``hear`` gives the words of ``(samples,)`` at 16 kHz. Raises ``DataError`` for a folder without transcripts, or whose
    transcripts do not say where the utterances are, and ``ConfigError`` if ``out`` exists.
    """
    require_absent(out)
    source = folder / TRANSCRIPTS
    try:
        rows = [json.loads(line) for line in source.read_text(encoding="utf-8").split("\n") if line.strip()]
        empty = [row for row in rows if not row["text"].strip()]
        spans = [(folder / row["file"], float(row["start"]), float(row["end"])) for row in empty]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{source}: expected a line with file, start, end and text for each utterance, could not read it: {error!r}"
        ) from error
    samples: tuple[Path | None, Array] = (None, np.zeros(0, np.float32))
    for row, (path, start, end) in zip(empty, spans, strict=True):
        if samples[0] != path:
            samples = path, read_audio(path)
        first, last = (round(max(0.0, at) * SAMPLE_RATE) for at in (start - _MARGIN, end + _MARGIN))
        row["text"] = hear(samples[1][first:last])
    with new_folder(out) as made:
        for name in sorted({row["file"] for row in rows}):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise DataError(f"{source}: expected recordings inside of the folder, got {name!r:.80}")
            if not (folder / name).is_file():
                raise AudioFileError(f"{folder / name}: expected the recording that {source} names, found none")
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).symlink_to((folder / name).resolve())
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (made / TRANSCRIPTS).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return len(empty)


def pocketsphinx() -> Callable[[Array], str]:
    """What PocketSphinx hears with its own model of English. ``ConfigError`` if it is not installed."""
    try:
        from pocketsphinx import Decoder
    except ImportError as error:
        raise ConfigError("expected PocketSphinx, found none; pip install pocketsphinx") from error

    decoder = Decoder(samprate=SAMPLE_RATE, loglevel="ERROR")

    def hear(samples: Array) -> str:
        decoder.start_utt()
        decoder.process_raw((samples * 32_767).clip(-32_768, 32_767).astype("<i2").tobytes(), full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        return str(found.hypstr) if found is not None else ""

    return hear


def whisper(folder: Path) -> Callable[[Array], str]:
    """What Whisper hears where it is sure. ``ConfigError`` if it is not installed, or if the folder has no model."""
    if not (folder / "model.bin").is_file():
        raise ConfigError(f"{folder}: expected a Whisper in CTranslate2's format (model.bin), found none")
    try:
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise ConfigError("expected faster-whisper, found none; pip install faster-whisper") from error
    model = WhisperModel(str(folder), device="cpu", compute_type="float32", cpu_threads=1)

    def hear(samples: Array) -> str:
        found = list(model.transcribe(samples, language="en", beam_size=5, condition_on_previous_text=False)[0])
        text = re.sub(r"[-\u2014]", " ", " ".join(one.text.strip() for one in found))
        unsure = min((one.avg_logprob for one in found), default=_UNSURE) < _UNSURE
        return "" if unsure or re.search(r"\d", text) else text

    return hear


def main() -> None:
    """Fill in the texts of one folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--whisper", type=Path)
    given = parser.parse_args()
    hear = pocketsphinx() if given.whisper is None else whisper(given.whisper)
    print(transcribe(given.folder, given.out, hear), "texts filled in")  # noqa: T201


if __name__ == "__main__":
    main()
