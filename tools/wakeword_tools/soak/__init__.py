"""Endurance tests and random tests of detectors."""
