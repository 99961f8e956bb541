"""Endurance tests, and random attacks on detectors, files and commands."""
