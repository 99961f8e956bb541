"""Comparison of methods on recorded wake words."""
