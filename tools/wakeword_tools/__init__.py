"""Calibration, evaluation, text to speech and benchmarks around ``wakeword``. Never imports torch."""
