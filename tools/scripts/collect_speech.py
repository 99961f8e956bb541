"""``python -m scripts.collect_speech``: writes ``transcripts.jsonl`` for transcribed speech in other layouts.

    libri FOLDER OUT                    LibriSpeech: ``**/*.flac`` and ``*.trans.txt``
    prompts SOUNDS TEXTS OUT            Asterisk's prompts: ``name.g722`` and a line ``name: text`` for each; needs ffmpeg
    table MANIFEST OUT --only PREFIX    a table with the columns file, language, speaker and transcript
    words FOLDER OUT --without WORD     Speech Commands, without people who say a word that judges, nor its test people

The recordings stay where they are, but for prompts, which become FLAC.
"""

import csv
import gzip
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import DataError
from wakeword.base.files import write_whole
from wakeword_tools.kinds import Split
from wakeword_tools.transcripts import TRANSCRIPTS
from wakeword_train.data.clips import hash_split

_DIGITS = dict(
    zip("0123456789", ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], strict=True)
)
app = typer.Typer(help="Write transcripts.jsonl for transcribed speech in other layouts.")


def write_transcripts(out: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Write a folder's transcripts. ``DataError`` if there are none."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if not lines:
        raise DataError(f"{out}: expected recordings with texts, found none; is the layout another one?")
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / TRANSCRIPTS, "\n".join([*lines, ""]).encode())
    typer.echo(f"{out}: {len(lines)} utterances")


@app.command()
def libri(folder: Path, out: Path) -> None:
    """LibriSpeech."""
    rows = []
    for table in sorted(folder.rglob("*.trans.txt")):
        for line in table.read_text("utf-8").splitlines():
            name, _, text = line.partition(" ")
            path = table.parent / f"{name}.flac"
            if path.exists():
                rows.append({"file": str(path.resolve()), "text": text, "speaker": name.split("-")[0]})
    write_transcripts(out, rows)


@app.command()
def prompts(sounds: Path, texts: Path, out: Path, speaker: str = "prompts") -> None:
    """Asterisk's prompts."""
    files = {path.stem: path for path in sorted(sounds.rglob("*.g722"))}
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for line in gzip.decompress(texts.read_bytes()).decode().splitlines():
        name, _, text = line.partition(":")
        name, text = name.strip().split("/")[-1], re.sub(r"\[.*?\]|\(.*?\)", "", text).strip()
        if line.startswith(";") or name not in files or not re.search("[a-z]", text.lower()):
            continue
        made = out / f"{name}.flac"
        command = ["ffmpeg", "-v", "error", "-y", "-f", "g722", "-i", files[name], "-ac", "1", "-ar", "16000", made]
        subprocess.run([str(part) for part in command], check=True)
        rows.append({"file": made.name, "text": text, "speaker": speaker})
    write_transcripts(out, rows)


@app.command()
def table(
    manifest: Path, out: Path, only: Annotated[str, typer.Option(help="Beginning of the names of files.")] = ""
) -> None:
    """A table of recordings; digits are read one by one."""
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = [
            {
                "file": str((manifest.parent / row["file"]).resolve()),
                "text": re.sub(r"\d", lambda digit: f" {_DIGITS[digit.group()]} ", row["transcript"]),
                "speaker": row["speaker"],
            }
            for row in csv.DictReader(file, delimiter="\t")
            if row["language"] == "en" and row["transcript"] and row["file"].startswith(only)
        ]
    write_transcripts(out, rows)


@app.command()
def words(
    folder: Path,
    out: Path,
    without: Annotated[list[str], typer.Option(help="A word that judges: nobody who says it is taken; repeatable.")],
    silent: Annotated[list[str] | None, typer.Option(help="A word of which no clip is taken; repeatable.")] = None,
) -> None:
    """Speech Commands."""
    clips = [path for path in sorted(folder.glob("*/*.flac")) if not path.parent.name.startswith("_")]
    said: defaultdict[str, set[str]] = defaultdict(set)
    for path in clips:
        said[_person(path)].add(path.parent.name)
    left_out = {*without, *(silent or [])}
    rows = [
        {"file": str(path.resolve()), "text": path.parent.name, "speaker": f"sc-{_person(path)}"}
        for path in clips
        if path.parent.name not in left_out
        and not said[_person(path)] & set(without)
        and hash_split(path.name) is Split.TRAIN
    ]
    write_transcripts(out, rows)


def _person(path: Path) -> str:
    return path.stem.split("_")[0]


if __name__ == "__main__":
    app()
