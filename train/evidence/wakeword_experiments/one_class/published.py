"""The figures of the paper: Goyal et al., "DROCC: Deep Robust One-Class Classification", ICML 2020.

Per cent throughout. The paper's names of methods are those used here: nearest neighbour is kNN.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One table or figure of the paper: a row of figures for each method."""

    source: str
    """Where it stands in the paper."""
    columns: tuple[object, ...]
    rows: Mapping[str, tuple[float, ...]]

    def line(self, method: str) -> str:
        """A method's figures, as one list."""
        return ", ".join(f"{value:g}" for value in self.rows[method])


SPHERE = Published(
    "table 6",
    (1.2, 1.4, 1.6, 1.8, 2.0),
    {
        "kNN": (100, 100, 100, 100, 100),
        "OC-SVM": (92.00, 92.97, 92.97, 91.87, 91.83),
        "autoencoder": (91.81, 97.85, 99.92, 99.98, 100),
        "DeepSVDD": (93.26, 98.81, 99.99, 100, 100),
        "DROCC": (99.44, 99.99, 100, 100, 100),
    },
)
SINE = Published(
    "table 7",
    (0.2, 0.4, 0.6, 0.8, 1.0, 2.0),
    {
        "kNN": (100, 100, 100, 100, 100, 100),
        "OC-SVM": (56.99, 68.84, 76.95, 81.73, 88.18, 98.56),
        "autoencoder": (52.48, 58.59, 66.59, 77.42, 86.14, 100),
        "DeepSVDD": (65.91, 78.18, 82.85, 86.26, 90.51, 100),
        "DROCC": (96.80, 99.31, 99.92, 99.98, 100, 100),
    },
)
HALF_ZEROS = Published(
    "section 5.2.1",
    ("recall at 3 % FPR",),
    {"BCE": (54,), "DeepSAD": (90.91,), "DROCC-OE": (98.16,), "DROCC-LF": (99.4,)},
)
TABULAR = Published(
    "table 2",
    ("Abalone", "Thyroid", "Arrhythmia"),
    {
        "OC-SVM": (48, 39, 46),
        "LOF": (33, 54, 51),
        "DCN": (40, 33, 38),
        "autoencoder": (33, 13, 45),
        "DAGMM": (20, 49, 49),
        "DeepSVDD": (62, 73, 54),
        "GOAD": (61, 72, 51),
        "DROCC": (68, 78, 69),
    },
)
AUDIO = Published(
    "table 3",
    ("marvin",),
    {"kNN": (65.81,), "autoencoder": (51.49,), "REBM": (63.73,), "DeepSVDD": (68.38,), "DROCC": (70.21,)},
)
WAKE_WORDS = Published(
    "figures 3 and 9, read off the bars, so within 0.4",
    ("marvin", "seven", "forward", "follow"),
    {
        "bce": (52.4, 50.4, 41.9, 28.8),
        "deepsad": (56.4, 58.0, 51.0, 50.1),
        "drocc-oe": (63.0, 63.8, 63.8, 48.3),
        "drocc-lf": (72.4, 68.8, 59.2, 56.2),
    },
)
"""Recall at 3 % false positives, half of the negatives close words."""

CLOSE_WORDS = {
    "marvin": ("mar", "marlin", "arvin", "marvik", "arvi"),
    "seven": ("one", "eleven", "heaven", "when", "devon"),
}
"""Table 9: the texts of the synthesised close words, for the keywords of which a model is included."""
