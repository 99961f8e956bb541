"""Accuracy of shipped models compared with other engines."""
