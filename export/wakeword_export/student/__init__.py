"""A small network for microWakeWord's engines, taught by a model of two stages."""
