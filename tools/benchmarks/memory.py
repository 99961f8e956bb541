"""How much memory this process holds, in MB of 2**20 bytes. Imports nothing but the standard library."""

from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident_memory() -> float | None:
    """Memory held now; ``None`` where the system does not report it (everywhere except on Linux)."""
    return _linux("VmRSS") if _STATUS.exists() else None


def peak_memory() -> float | None:
    """The most memory held so far; ``None`` where the system does not report it (Windows)."""
    if _STATUS.exists():
        # Not ru_maxrss, which on Linux starts from the peak of the parent process.
        return _linux("VmHWM")
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _linux(name: str) -> float:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1_024
