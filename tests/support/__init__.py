"""What tests share: models built on the spot, recordings, and stand-ins for devices."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
