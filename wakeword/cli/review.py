"""``wakeword review``: hear what ``listen --save`` has kept, and sort it."""

from pathlib import Path
from typing import Annotated

import typer


def review(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of `wakeword listen --save DIR`.")],
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Put the folders yes and no here. Default: the same DIR."),
    ] = None,
    keyword: Annotated[
        str | None, typer.Option("--keyword", metavar="K", help="Only recordings of this word. Default: of all words.")
    ] = None,
    play: Annotated[bool, typer.Option("--play/--no-play", help="Play each recording.")] = True,
    only_list: Annotated[bool, typer.Option("--list", help="List what waits for an answer, and ask nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="List it as JSON, one object a line.")] = False,
) -> None:
    """Go through saved detections and near misses, and sort them into the folders yes and no.

    Keys: y it was the word, n it was not, s or Enter skip, r hear it again, b back to the one before, q quit. Every
    answer is carried out at once. What learns from them is `wakeword train --from MODEL --positives DIR/yes
    --extend-negatives DIR/no`.
    """
    from wakeword.cli.review_work import ReviewSettings, list_pairs, review_folder

    if only_list or as_json:
        list_pairs(folder, keyword, as_json=as_json)
    else:
        review_folder(ReviewSettings(folder, folder if into is None else into, keyword, play=play))
