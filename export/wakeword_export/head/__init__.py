"""The head of a second stage as files for openWakeWord's engines."""
