"""Trainings of several words, settings and seeds, compared by their validation."""
