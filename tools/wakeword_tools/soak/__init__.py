"""Endurance and random use of detectors."""
