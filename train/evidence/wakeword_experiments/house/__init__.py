"""Simulated houses: what a model learns from the talk of some nights, and what it forgets."""
