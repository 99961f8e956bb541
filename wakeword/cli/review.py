"""``wakeword review``: hear what ``listen --save`` has kept, and sort it."""

import json
import os
import select
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import AudioDeviceError, AudioError
from wakeword.base.text import printable
from wakeword.base.types import Array
from wakeword.cli.console import complain, note
from wakeword.cli.option_class import command
from wakeword.cli.options import keyword_option
from wakeword.cli.ranges import option
from wakeword.model.installed import model_name
from wakeword.saving.keeper import kept_folder
from wakeword.saving.sorting import Answer, SavedPair, file_pair, saved_pairs
from wakeword.takes.playback import play

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]  # a module elsewhere

_ESCAPE_SECONDS = 0.05
"""Within this the rest of a key arrives that sends several characters."""

_ANSWERS = {"y": Answer.YES, "n": Answer.NO}


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """The options of the command."""

    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="The folder of `listen --save DIR`. Default: what --keep has kept."),
    ] = None
    into: Annotated[Path | None, option("--into", "Put the folders yes and no here. Default: the same DIR.", "DIR")] = (
        None
    )
    keyword: Annotated[
        list[str] | None, keyword_option("Only recordings of this word; repeatable. Default: of all words.")
    ] = None
    play: Annotated[bool, option("--play/--no-play", "Play each recording.")] = True
    only_list: Annotated[bool, option("--list", "List what waits for an answer, and ask nothing.")] = False
    as_json: Annotated[bool, option("--json", "List it as JSON, one object a line.")] = False


@command
def review(options: ReviewOptions) -> None:
    """Go through saved detections and near misses, and sort them into the folders yes and no.

    Keys: y it was the word, n it was not, s or Enter skip, r hear it again, b back to the one before, q quit. Every
    answer is carried out at once. What learns from them is
    `wakeword train --from MODEL --extend-negatives DIR --background ROOM`.
    """
    (_list_pairs if options.only_list or options.as_json else _review_folder)(options)


def _list_pairs(options: ReviewOptions) -> None:
    """Print a line for each recording that waits for an answer. Raises ``DataError`` if there is no such folder."""
    for pair in _pairs_of(options):
        if options.as_json:
            named = ("keyword", "score", "near_miss", "time")
            given_fields = {name: getattr(pair, name) for name in named}
            print(json.dumps({"audio": str(pair.audio), **given_fields}))
        else:
            print(f"{printable(pair.audio)}  {_title(pair)}")


def _review_folder(options: ReviewOptions) -> None:
    """Ask about each recording in turn. Raises ``DataError`` if there is no such folder, ``OSError`` as the disk does."""
    pairs = _pairs_of(options)
    if not pairs:
        note(f"{_folder_of(options)}: nothing waits for an answer")
        return
    words = sorted({pair.keyword for pair in pairs})
    if len(words) > 1:
        # A training takes all of a folder for recordings of its own word.
        note(
            f"warning: recordings of {len(words)} words, {', '.join(words)}, would share the folders yes and no; give "
            "--keyword, and --into another folder for each"
        )
    asked = _Review(options, pairs)
    try:
        asked.run()
    finally:
        # Also where Ctrl-C ends it: every answer was carried out when it was given.
        note(asked.summary())


def _folder_of(options: ReviewOptions) -> Path:
    return options.folder or kept_folder()


def _pairs_of(options: ReviewOptions) -> list[SavedPair]:
    """Those that wait for an answer, the oldest first."""
    wanted = set(map(model_name, options.keyword or []))
    return [pair for pair in saved_pairs(_folder_of(options)) if not wanted or model_name(pair.keyword) in wanted]


class _Review:
    """Where a review is."""

    def __init__(self, options: ReviewOptions, pairs: list[SavedPair]) -> None:
        self._folder = _folder_of(options)
        self._into = options.into or self._folder
        self._pairs = pairs
        self._answers: dict[int, Answer] = {}
        self._plays = options.play

    def run(self) -> None:
        """Ask until all are answered or skipped, the person quits, or the input ends."""
        note("y the word, n not the word, s skip, r again, b back, q quit")
        at = 0
        while at < len(self._pairs):
            key = self._ask(at)
            if key is None or key == "q":
                return
            if key in _ANSWERS:
                self._file(at, _ANSWERS[key])
                at += 1
            elif key == "b":
                at = max(0, at - 1)
            else:
                at += key in ("", "s")

    def _file(self, at: int, answer: Answer) -> None:
        try:
            self._pairs[at] = file_pair(self._pairs[at], answer, self._into)
            self._answers[at] = answer
        except FileNotFoundError:  # on the live page of a server another person answers too
            note(f"   expected {printable(self._pairs[at].data)}, which another program moved or deleted; it goes on")

    def summary(self) -> str:
        """What was filed and what is left."""
        filed = {side: sum(filed_as is side for filed_as in self._answers.values()) for side in Answer}
        parts = [f"{number} in {self._into / side}" for side, number in filed.items() if number]
        left = len(self._pairs) - len(self._answers)
        return ", ".join([*parts, f"{left} left in {self._folder}"] if left else parts)

    def _ask(self, at: int) -> str | None:
        """Show and play a recording; the key that was pressed."""
        pair = self._pairs[at]
        try:
            samples = read_audio(pair.audio)
        except AudioError as error:
            complain(error)
            return "s"
        answered = f", answered {self._answers[at].value}" if at in self._answers else ""
        note(f"{at + 1} of {len(self._pairs)}  {_title(pair)}{answered}")
        self._play(samples, pair.audio)
        print("   ? ", end="", file=sys.stderr, flush=True)
        key = _read_key()
        note("" if key is None else key)
        return key

    def _play(self, samples: Array, path: Path) -> None:
        try:
            if self._plays:
                play(samples)
        except AudioDeviceError as error:
            # Reported once; the file's name remains.
            self._plays = False
            complain(f"{error}; connect a loudspeaker, or play the files that are named here with another program")
        if not self._plays:
            note(f"   {printable(path)}")


def _title(pair: SavedPair) -> str:
    moment = pair.moment
    when = pair.time if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"
    kind = "near miss" if pair.near_miss else "detection"
    return f"{printable(pair.keyword)}  {kind}  score {pair.score:.3f}  {printable(when)}"


def _read_key() -> str | None:
    """The next key in lower case, empty for Enter; of a file or a pipe the first letter of a line. ``None`` at the end."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip().casefold()[:1] if line else None
    if termios is None:
        import msvcrt  # type: ignore[import-not-found,unused-ignore]  # only Windows has it

        key: str = msvcrt.getwch()
    else:
        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
        try:
            # Ctrl-C stays a signal; what was typed in advance stays too.
            tty.setcbreak(handle, termios.TCSADRAIN)
            key = _pressed(handle)
        finally:
            termios.tcsetattr(handle, termios.TCSADRAIN, before)
    return None if key in ("", "\x04") else key.strip().casefold()


def _pressed(handle: int) -> str:
    """One key of a terminal; ``\\x1b`` for all that Escape begins, such as an arrow: its letters are no keys."""
    first = os.read(handle, 1)
    if first == b"\x1b":
        rest = b""
        while select.select([handle], [], [], _ESCAPE_SECONDS)[0] and (byte := os.read(handle, 1)):
            rest += byte
            if rest.strip(b"[O") and b"@" <= byte <= b"~":
                break
        return "\x1b"
    # A letter of another alphabet is one key too.
    more = sum(first >= start for start in (b"\xc0", b"\xe0", b"\xf0"))
    return (first + b"".join(os.read(handle, 1) for _ in range(more))).decode("utf-8", "replace")
