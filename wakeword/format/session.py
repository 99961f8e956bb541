"""Sessions of ONNX Runtime, set up for many small calls in one thread."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from wakeword.base.errors import ConfigError, ModelError, reason_of
from wakeword.base.text import shortened
from wakeword.base.types import Array
from wakeword.format.digest import NOT_A_MODEL

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
"""Where a network can run: the name here and the name in ONNX Runtime."""
_REASON = 300
"""Characters of what ONNX Runtime says that a message repeats."""


def require_provider(provider: object) -> None:
    """Raise ``ConfigError`` for a provider that is unknown."""
    if not isinstance(provider, str) or provider not in PROVIDERS:
        raise ConfigError(f"expected provider {' or '.join(PROVIDERS)}, got {provider!r:.80}")


def open_session(model: bytes | Path, provider: str = "cpu", *, arena: bool = True) -> onnxruntime.InferenceSession:
    """A session of a model, given as the bytes of its file or as their path.

    ``arena`` is ONNX Runtime's own pool of memory, which keeps what a call has needed: right for calls at every hop.
    Raises ``ModelError`` for what is no model, and ``ConfigError`` for a provider that is unknown or does not start.
    """
    require_provider(provider)
    if PROVIDERS[provider] not in onnxruntime.get_available_providers():
        raise ConfigError(
            f"expected ONNX Runtime with the provider {provider!r}, got one with "
            f"{', '.join(onnxruntime.get_available_providers())}; install onnxruntime-gpu instead, or use cpu"
        )
    options = onnxruntime.SessionOptions()
    # By default the pool's threads spin between calls: at 25 small calls a second that burns most of a core.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = arena
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=[PROVIDERS[provider]], enable_fallback=0)
    except Exception as error:  # ONNX Runtime's exceptions share no public base class
        reason = shortened(reason_of(error), _REASON)
        if provider != "cpu":
            open_session(model, "cpu")  # if the model is the cause, this reports it
            raise _did_not_start(provider, reason) from error
        raise ModelError(f"{NOT_A_MODEL} ({reason})") from error
    # If a provider's libraries are missing, ONNX Runtime silently uses the CPU.
    if session.get_providers()[0] != PROVIDERS[provider]:
        raise _did_not_start(provider, f"ONNX Runtime used {session.get_providers()[0]} instead")
    return session


def bound_call(
    session: onnxruntime.InferenceSession, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> Callable[[], None]:
    """A run of a session as a call that reads and writes these arrays, each C-contiguous float32 of its shape.

    Nothing is allocated, copied or converted in a call. It raises ``ModelError`` if the graph cannot be run.
    """
    if session.get_providers()[0] != PROVIDERS["cpu"]:
        # Values on another device are copies of their arrays: binding would gain nothing.
        def run() -> None:
            for array, value in zip(outputs.values(), run_session(session, list(outputs), inputs), strict=True):
                array[:] = value

        return run
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for name, array in outputs.items():
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    run_bound = session.run_with_iobinding

    def run_in_place() -> None:
        try:
            run_bound(binding)
        except Exception as error:  # as above
            raise failure(error) from error

    return run_in_place


def run_session(
    session: onnxruntime.InferenceSession, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]]
) -> list[NDArray[Any]]:
    """The outputs of these names, in the shapes that the graph declares. ``ModelError`` if the graph cannot be run."""
    try:
        values: list[NDArray[Any]] = session.run(outputs, dict(inputs))
    except Exception as error:  # as above
        raise failure(error) from error
    return values


def failure(error: Exception) -> ModelError:
    """The error for an exception of ONNX Runtime while a graph runs: its exceptions share no public base class."""
    return ModelError(f"the graph does not run: {shortened(reason_of(error), _REASON)}")


def _did_not_start(provider: str, reason: str) -> ConfigError:
    return ConfigError(
        f"expected the provider {provider!r} to start, but it did not ({reason}); "
        "check the driver and the CUDA and cuDNN libraries that this onnxruntime-gpu needs, or use cpu"
    )
