"""``wakeword review``: hear what ``listen --save`` has kept, and sort it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.option_class import command
from wakeword.cli.ranges import separate


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """The options of the command."""

    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="The folder of `listen --save DIR`. Default: what --keep has kept."),
    ] = None
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Put the folders yes and no here. Default: the same DIR."),
    ] = None
    keyword: Annotated[
        list[str] | None,
        typer.Option(
            "--keyword",
            metavar="K",
            callback=separate,
            help="Only recordings of this word; repeatable. Default: of all words.",
        ),
    ] = None
    play: Annotated[bool, typer.Option("--play/--no-play", help="Play each recording.")] = True
    only_list: Annotated[bool, typer.Option("--list", help="List what waits for an answer, and ask nothing.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="List it as JSON, one object a line.")] = False


@command
def review(options: ReviewOptions) -> None:
    """Go through saved detections and near misses, and sort them into the folders yes and no.

    Keys: y it was the word, n it was not, s or Enter skip, r hear it again, b back to the one before, q quit. Every
    answer is carried out at once. What learns from them is `wakeword train --from MODEL --positives DIR/yes
    --extend-negatives DIR/no`.
    """
    from wakeword.cli.review_work import list_pairs, review_folder

    (list_pairs if options.only_list or options.as_json else review_folder)(options)
