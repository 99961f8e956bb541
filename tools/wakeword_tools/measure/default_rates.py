"""The rates of false alarms that are asked for by default, and the highest; nothing heavy."""

DEFAULT_FPRS = (0.03, 0.05)
"""False positives per negative clip."""
DEFAULT_FA_PER_HOUR = 0.5
"""False accepts an hour."""
MAX_FA_PER_HOUR = 60
