"""The cost of starting an engine, in a process of its own: ``python -m benchmarks.start_cost PACKAGE NAME MODEL``.

Prints a JSON object: milliseconds to import the package, CPU time of that, milliseconds to load a model, and the peak of
the resident memory in MB after 8 s of audio, or null where the system does not report it.
"""

import importlib
import json
import sys
import time
from array import array

from benchmarks.memory import peak_memory

_BLOCKS = 100


def main(package: str, name: str, model: str) -> None:
    """Start one contender and print the time and memory that it took."""
    began, cpu = time.perf_counter(), time.process_time()
    importlib.import_module(package)
    imported, imported_cpu = time.perf_counter(), time.process_time()

    # Not before: the registry imports parts of this project's package.
    from benchmarks.contenders import PEERS, start
    from benchmarks.own_engine import OURS

    contender = next(one for one in (OURS, *PEERS) if one.distribution == name)
    ready = time.perf_counter()
    listener = start(contender, model, 1)
    loaded = time.perf_counter()
    silence: object = array("h", bytes(2 * 1_280))
    if "numpy" in sys.modules:
        # Not otherwise: an engine that does without is not charged with its memory.
        import numpy as np

        silence = np.zeros(1_280, np.int16)
    for _ in range(_BLOCKS):
        listener(silence)
    figures = {
        "import_ms": 1_000 * (imported - began),
        "import_cpu_ms": 1_000 * (imported_cpu - cpu),
        "load_ms": 1_000 * (loaded - ready),
        "peak_mb": peak_memory(),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
