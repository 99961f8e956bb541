"""Training methods for comparison, offered to ``wakeword train`` by entry points: DeepSAD, and DROCC without ascent."""
