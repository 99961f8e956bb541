"""The targets of the fuzzer."""

from functools import partial

from fuzz.cases import audio_cases, card_cases, command_cases, detectors, graph_cases, model_cases, threads
from fuzz.cases.laws import FuzzTarget
from wakeword import AudioError, ConfigError, ModelError


def targets(model: str = "marvin") -> dict[str, FuzzTarget]:
    """All targets by name; ``model`` is used where one is enough."""
    return {
        "models": FuzzTarget(model_cases.prepare, (ModelError,), batch=100),
        "graphs": FuzzTarget(graph_cases.prepare, (ModelError,), batch=60),
        # A card may lack what its user asks for, which is no fault of the file.
        "cards": FuzzTarget(card_cases.prepare, (ModelError, ConfigError), batch=60),
        "audio": FuzzTarget(audio_cases.prepare, (AudioError,), batch=100),
        "commands": FuzzTarget(command_cases.prepare, (), batch=10, seconds=300, share=2),
        "detectors": FuzzTarget(partial(detectors.prepare, model), (), batch=10, seconds=600),
        "threads": FuzzTarget(threads.prepare, (), batch=40, seconds=300),
    }
