"""Scores of recordings, thresholds, and the rates of a model at them."""
