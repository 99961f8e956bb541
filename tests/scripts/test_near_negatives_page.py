"""The pages about near negatives agree with the code."""

from pathlib import Path

from support import RESULTS

from scripts.make_near_negatives import section
from wakeword_tools.texts.candidates import SHARE_BY_DISTANCE

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_holds_the_texts_that_the_command_gives() -> None:
    assert section("marvin") in (RESULTS / "near-negatives.md").read_text(encoding="utf-8")


def test_the_shares_of_the_distances_are_the_defaults() -> None:
    shares = ", ".join(f"{share:.0%} at {band}" for band, share in SHARE_BY_DISTANCE.items())
    assert shares in " ".join((DOCS / "near-negatives.md").read_text(encoding="utf-8").split()).replace(
        "of the texts lie ", ""
    )
