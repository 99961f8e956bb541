"""``wakeword calibrate``: choose thresholds on recordings and write them into the model."""

from wakeword.base.plugins import require
from wakeword.cli.option_class import command
from wakeword_tools.cli.measure_options import CalibrateOptions


@command
def calibrate(options: CalibrateOptions) -> None:
    """Choose thresholds on recordings, and write them into the model as operating points.

    Use recordings that the model was not trained on. A point replaces the one of the same name; the other points and
    the network stay unchanged. If a target that is given cannot be met, nothing is written. If the background is too
    short for a rate of false accepts an hour, the point is named by the strictest rate that it supports. For a file of
    another engine, and with --ambient alone, the thresholds are printed only.
    """
    require("tools", "scipy", "onnx", *(["matplotlib"] if options.plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.calibrate_work import calibrate_model

    calibrate_model(options)
