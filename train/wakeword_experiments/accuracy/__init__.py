"""Accuracy of shipped models beside other engines."""
