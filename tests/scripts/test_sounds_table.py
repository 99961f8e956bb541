"""The table of sounds is what the script makes of the dictionary and of panphon."""

import numpy as np

from scripts.make_sounds import make_table
from wakeword_tools.texts.sounds import sound_table


def test_the_table_is_what_the_script_makes() -> None:
    """Of another version of the dictionary some words may be said otherwise."""
    made, kept = make_table(), sound_table()
    assert made.keys() == kept.keys()
    np.testing.assert_allclose(made["costs"], kept["costs"], atol=1e-9)
    of_made, of_kept = (set(table["words"].tobytes().split()) for table in (made, kept))
    assert len(of_made & of_kept) > 0.99 * max(len(of_made), len(of_kept))
    if of_made == of_kept:
        assert (made["lengths"] != kept["lengths"]).mean() < 0.01
