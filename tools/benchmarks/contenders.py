"""The engines that a benchmark compares, each through its own public streaming interface.

Nothing but the standard library is imported here: ``start`` measures what the import of an engine takes.
"""

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pcm = NDArray[np.int16]

Listener = Callable[[Any], object]
"""Takes the next block of 16 kHz mono int16: an array, or its bytes."""


@dataclass(frozen=True)
class Contender:
    """One engine."""

    name: str
    """As on PyPI."""
    package: str
    """The module that a program imports. Ours is the detector's: `wakeword` alone imports nothing before it is used."""
    start: Callable[[str, int], Listener]
    """Model, number of keywords -> a new stream. The model, a file or a shipped keyword, is for this project's engine."""
    takes_bytes: bool = False

    def block(self, samples: "Pcm") -> "Pcm | bytes":
        """The samples as the engine takes them."""
        return samples.tobytes() if self.takes_bytes else samples


def _ours(model: str, keywords: int) -> Listener:
    from wakeword.checkup.keywords import detector_for

    return detector_for(model, keywords).push


def _pymicro_wakeword(_: str, keywords: int) -> Listener:
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures
    from pymicro_wakeword import Model as Word

    words = [Word.OKAY_NABU, Word.HEY_JARVIS, Word.ALEXA]
    models = [MicroWakeWord.from_builtin(word) for word in words[:keywords]]
    features = MicroWakeWordFeatures()

    def push(block: bytes) -> None:
        for feature in features.process_streaming(block):
            for model in models:
                model.process_streaming(feature)

    return push


def _openwakeword(_: str, keywords: int) -> Listener:
    from openwakeword.model import Model as Listening

    # Its other runtime, TensorFlow Lite, is not published for current Pythons.
    words = ["hey_jarvis", "alexa", "hey_mycroft"][:keywords]
    predict: Listener = Listening(wakeword_models=words, inference_framework="onnx").predict
    return predict


def _pyopen_wakeword(_: str, keywords: int) -> Listener:
    from pyopen_wakeword import Model as Word
    from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

    words = [Word.OKAY_NABU, Word.HEY_JARVIS, Word.ALEXA]
    models = [OpenWakeWord.from_builtin(word) for word in words[:keywords]]
    features = OpenWakeWordFeatures.from_builtin()

    def push(block: bytes) -> None:
        for feature in features.process_streaming(block):
            for model in models:
                for _ in model.process_streaming(feature):
                    pass

    return push


MOST_KEYWORDS = 3
"""Number of keywords that are measured together."""
OURS = Contender("wakeword", "wakeword.engine", _ours)
PEERS = (
    Contender("pymicro-wakeword", "pymicro_wakeword", _pymicro_wakeword, takes_bytes=True),
    Contender("openwakeword", "openwakeword", _openwakeword),
    Contender("pyopen-wakeword", "pyopen_wakeword", _pyopen_wakeword, takes_bytes=True),
)


_FILE = re.compile(r"[\\/]([\w+-][\w.+-]*\.\w+)(?![\w\\/])")
"""A file's name at the end of a path."""
_LONGEST = 80


def why(error: Exception) -> str:
    """Why a peer did not run, in a few words that can be published: of a path only the file's name."""
    message = " ".join(str(error).split())
    if "/" in message or "\\" in message:
        files = _FILE.findall(message)
        # The last one: before it may be a folder with a full stop in its name.
        message = files[-1] if files else ""
    name = type(error).__name__
    reason = f"{name}: {message}" if message else name
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 3]}..."


def present(peers: Sequence[Contender]) -> tuple[list[Contender], dict[str, str]]:
    """The peers that work on this machine, and for each of the others the reason in one line."""
    import numpy as np

    working, absent = [], {}
    for peer in peers:
        if importlib.util.find_spec(peer.package) is None:
            absent[peer.name] = "not installed"
            continue
        try:
            listener = peer.start("", MOST_KEYWORDS)
            for _ in range(25):
                listener(peer.block(np.zeros(1_280, np.int16)))
        # Whatever error another package raises, the others are measured.
        except Exception as error:
            absent[peer.name] = f"installed, but did not run: {why(error)}"
        else:
            working.append(peer)
    return working, absent


def version(contender: Contender) -> str:
    """The installed version, or ``?`` where the installer left none."""
    try:
        return importlib.metadata.version(contender.name)
    except importlib.metadata.PackageNotFoundError:
        return "?"
