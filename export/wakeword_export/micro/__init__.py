"""A small network as files for microWakeWord's engines."""
