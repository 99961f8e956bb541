"""The errors that this project raises on bad input, bad files and bad devices.

    WakewordError
    ├── AudioError
    │   ├── AudioFormatError    samples of an unsupported dtype, shape, rate or value
    │   ├── AudioFileError      a file that is missing or that holds no readable audio
    │   │   └── LeftOutError    files in a folder, audio by their names, that nothing here can read
    │   └── AudioDeviceError    no such device, or one that stopped delivering audio or was disconnected
    ├── ModelError              a model file that is not what it claims to be
    ├── ConfigError             a setting outside its range, or settings that contradict each other
    │   └── TooCommonError      speech sounds like the word all the time (in ``wakeword_train.typed_points``)
    ├── ClosedError             something was used after it was closed
    ├── BusyError               something was used while it is at work elsewhere
    ├── DataError               training or evaluation data that is missing, empty or unusable
    ├── SynthesisError          a text that cannot be spoken, or a text-to-speech engine that is missing or failed
    ├── CalibrationError        scores that do not support any threshold
    ├── CallbackError           a callback raised something (in ``audio.detection``)
    ├── WireError               what a client sent is no event (in ``wakeword_serve.wire``)
    └── WorkerError             processes or machines that cannot do the work that they are given

Every message says what was expected, what was found, and what to do about it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from wakeword.base.text import printable


class WakewordError(Exception):
    """Base class of the errors that this project raises."""


class AudioError(WakewordError):
    """Something is wrong with audio: its format, its file or its device."""


class AudioFormatError(AudioError, ValueError):
    """Samples of an unsupported dtype, shape, rate or value."""


class AudioFileError(AudioError):
    """A file that is missing or that holds no readable audio."""


class LeftOutError(AudioFileError):
    """Files in a folder, audio by their names, that nothing here can read. ``count``: how many they are."""

    def __init__(self, message: str, count: int) -> None:
        super().__init__(message)
        self.count = count


class AudioDeviceError(AudioError):
    """No such device, or one that stopped delivering audio or was disconnected."""


class ModelError(WakewordError):
    """A model file that is not what it claims to be."""


class ConfigError(WakewordError, ValueError):
    """A setting outside its range, or settings that contradict each other."""


class ClosedError(WakewordError):
    """Something was used after it was closed."""


class BusyError(WakewordError):
    """Something was used while it is at work elsewhere."""


class DataError(WakewordError):
    """Training or evaluation data that is missing, empty or unusable."""


class SynthesisError(WakewordError):
    """A text that cannot be spoken, or a text-to-speech engine that is missing or failed."""


class CalibrationError(WakewordError):
    """Scores that do not support any threshold."""


class WorkerError(WakewordError):
    """Processes or machines that cannot do the work that they are given."""


@contextmanager
def naming(what: object, *kinds: type[WakewordError]) -> Iterator[None]:
    """Put the name of what they are about before errors of these kinds, which take a message alone."""
    try:
        yield
    except kinds as error:
        raise type(error)(f"{printable(what)}: {error}") from error


@contextmanager
def raising(kind: type[WakewordError], said: str, *caught: type[BaseException], hint: str = "") -> Iterator[None]:
    """Raise an error of this kind in place of those that are ``caught``: what is ``said``, their reason, and a ``hint``."""
    try:
        yield
    except caught as error:
        raise kind(f"{said}: {reason_of(error)}{hint}") from error


def reason_of(error: BaseException) -> str:
    """What an exception says, in one line: the system's words without number and name, what is missing, or its own."""
    key = isinstance(error, KeyError) and " " not in str(error)
    text = f"{error} is missing" if key else getattr(error, "strerror", None) or str(error)
    return next(iter(text.strip().splitlines()), type(error).__name__)
