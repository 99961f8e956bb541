"""``wakeword compare``: whether a new model is better than an old one."""

from wakeword.base.plugins import require
from wakeword.cli.option_class import command
from wakeword_tools.cli.measure_options import CompareOptions


@command
def compare(options: CompareOptions) -> None:
    """Say whether a new model is better than an old one, or which of several engines, on the same recordings.

    Two models: each at its own default point, or at --point. What one finds more is weighed against what it fires more, and
    against the false accepts that its point promises. With --engine: ours:WORD, microwakeword:FILE.json,
    openwakeword:FILE.tflite or porcupine:FILE.ppn, all at the same false accepts an hour. Take recordings that no model was
    trained on.
    """
    require("tools", "scipy")
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.compare_work import compare_models
    from wakeword_tools.cli.referee_work import compare_engines

    (compare_engines if options.engine else compare_models)(options)
