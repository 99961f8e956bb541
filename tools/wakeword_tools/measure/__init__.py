"""Scores of recordings, thresholds, and what a model does at them."""
