"""``wakeword evaluate``: how well models find their word, and what they mistake for it."""

from wakeword.base.plugins import require
from wakeword.cli.option_class import command
from wakeword_tools.cli.measure_options import EvaluateOptions


@command
def evaluate(options: EvaluateOptions) -> None:
    """Measure recall, false positives, false accepts an hour and delay on recordings.

    Several models of one word are compared on the same recordings: a difference is marked with * when its 95 %
    interval (paired bootstrap) excludes zero.
    """
    require("tools", "scipy", *(["matplotlib"] if options.plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.evaluate_work import evaluate_models

    evaluate_models(options)
