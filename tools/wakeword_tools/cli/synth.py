"""``wakeword synth``: clips of a keyword, or of texts that sound like it, in many voices."""

from wakeword.cli.option_class import command
from wakeword_tools.cli.synth_options import SynthOptions


@command
def synth(options: SynthOptions) -> None:
    """Synthesise a keyword, or texts that sound like it, in many voices."""
    # Imported here, so that --help does not wait for the engines.
    from wakeword_tools.cli.synth_work import synthesise_set

    synthesise_set(options)
