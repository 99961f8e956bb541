"""How well ``wakeword check`` and the ear tell which words make good wake words.

``python -m wakeword_experiments.two_stages.ear_check``

The words of ``results/typed.json`` were said by people and compared with strangers' speech. Next to what was measured stand
what ``check`` says of a text, and what a model from its text promises, which comes from the speech of the starter pack.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from wakeword.model.model import read_model
from wakeword_tools.texts.advice import Grade, advise
from wakeword_train import model_from_text

RECORD = Path(__file__).parents[2] / "results" / "typed.json"


def main() -> None:
    """Print a row for each word, and rank correlations."""
    rows, measured = [], []
    for one in json.loads(RECORD.read_text())["words"]:
        word, default, at_rate = one["keyword"], one["text"]["default"], one["text"]["at_rate"]
        advice = advise(word)
        with tempfile.TemporaryDirectory() as folder:
            point = read_model(model_from_text(word, Path(folder) / "word.onnx", anyway=True)).card.point()
        rate = point.false_accepts_per_hour
        assert rate is not None
        kinds = ("clean", "noisy", "quiet", "room")
        found, strict = (np.mean([some[kind]["rate"] for kind in kinds]) for some in (default, at_rate))
        rows.append(
            (
                -float(list(Grade).index(advice.grade)),
                float(min(advice.phonemes, 12)),
                -advice.anyway_per_hour - advice.close_per_hour,
                -point.target,
                -rate.value,
                point.recall,
            )
        )
        measured.append((float(strict), -default["per_hour"][0], float(found)))
        sys.stdout.write(
            f"| {word} | {advice.grade} | {advice.phonemes} | {point.target:g} | {rate.value:.2f} | {point.recall:.0%} | "
            f"{default['per_hour'][0]:.2f} | {found:.0%} | {strict:.0%} |\n"
        )
    names = ("grade", "phonemes", "how often said", "promise of the ear", "rate in the pack", "recall of the ear")
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        found_by = [spearmanr(values, some).statistic for some in zip(*measured, strict=True)]
        sys.stdout.write(f"| {name} | " + " | ".join(f"{one:.2f}" for one in found_by) + " |\n")


if __name__ == "__main__":
    main()
