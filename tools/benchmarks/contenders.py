"""The engines of the registry on this machine: which of them run, and with which words.

Nothing heavy is imported here: ``start_cost`` measures what the import of an engine takes.
"""

import importlib.util
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import openwakeword_onnx, porcupine
from benchmarks.own_engine import OURS, detector_for
from wakeword_export.contenders import microwakeword, pyopenwakeword
from wakeword_tools.contenders.seam import Contender

PEERS = (microwakeword.ENGINE, openwakeword_onnx.ENGINE, pyopenwakeword.ENGINE, porcupine.ENGINE)
"""The engines of the registry, openWakeWord by its makers, which takes no files of users, and Porcupine, which needs a
key."""

MAX_KEYWORDS = 3
"""Number of keywords that are measured together."""
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


Listener = Callable[[Any], object]
"""Takes the next block of 16 kHz mono int16, ``(samples,)``."""


def start(contender: Contender, model: str, keywords: int) -> Listener:
    """A new stream with so many words: of this project's ``model``, or those that the engine's package brings."""
    if contender is OURS:
        return detector_for(model, keywords).push
    files = brought(contender, keywords)
    if contender is porcupine.ENGINE:
        # One sensitivity, as an application sets it, in place of all.
        return porcupine.PorcupineEngine(files, (0.5,)).push
    return contender.open(files).push


def brought(engine: Contender, words: int) -> Sequence[Path]:
    """Files of so many words that the package of a peer brings; none of a peer that is not known here."""
    if engine is openwakeword_onnx.ENGINE:
        return openwakeword_onnx.brought_by_openwakeword(words)
    if engine is porcupine.ENGINE:
        import pvporcupine

        return [Path(pvporcupine.KEYWORD_PATHS[word]) for word in ("alexa", "computer", "jarvis")[:words]]
    suffix = {microwakeword.ENGINE: "json", pyopenwakeword.ENGINE: "tflite"}.get(engine)
    spec = importlib.util.find_spec(engine.package) if suffix else None
    if spec is None or spec.origin is None:
        return []
    return [
        Path(spec.origin).parent / "models" / f"{name}.{suffix}"
        for name in ("alexa", "hey_jarvis", "okay_nabu")[:words]
    ]


def present(peers: Sequence[Contender]) -> tuple[list[Contender], dict[str, str]]:
    """The peers that work on this machine, and for each of the others the reason in one line."""
    import numpy as np

    working, absent = [], {}
    for peer in peers:
        if not peer.is_installed:
            absent[peer.distribution] = "not installed"
            continue
        try:
            listener = start(peer, "", MAX_KEYWORDS)
            for _ in range(25):
                listener(np.zeros(1_280, np.int16))
        # Whatever error another package raises, the others are measured.
        except Exception as error:
            absent[peer.distribution] = f"installed, but did not run: {why(error)}"
        else:
            working.append(peer)
    return working, absent
