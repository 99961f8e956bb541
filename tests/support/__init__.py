"""Shared code of the tests: small models, recordings, and stand-ins for devices."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

RESULTS = ROOT / "train" / "evidence" / "results"
"""The records of the experiments and of the benchmarks."""
