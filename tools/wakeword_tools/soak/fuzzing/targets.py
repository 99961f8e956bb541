"""The targets of the fuzzer."""

from functools import partial

from wakeword import AudioError, ConfigError, ModelError
from wakeword_tools.soak.fuzzing import audio, cards, commands, detectors, graphs, models, threads
from wakeword_tools.soak.fuzzing.laws import Target


def targets(model: str = "marvin") -> dict[str, Target]:
    """All targets by name; ``model`` is used where one is enough."""
    return {
        "models": Target(models.prepare, (ModelError,), batch=100),
        "graphs": Target(graphs.prepare, (ModelError,), batch=60),
        # A card may lack what its user asks for, which is no fault of the file.
        "cards": Target(cards.prepare, (ModelError, ConfigError), batch=60),
        "audio": Target(audio.prepare, (AudioError,), batch=100),
        "commands": Target(commands.prepare, (), batch=10, seconds=300, share=2),
        "detectors": Target(partial(detectors.prepare, model), (), batch=10, seconds=600),
        "threads": Target(threads.prepare, (), batch=40, seconds=300),
    }
