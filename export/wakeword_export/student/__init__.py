"""A small network for microWakeWord's engines, taught by the clips of a word's training."""
