"""Many recordings: what to read, how the work is shared, and the detections as rows."""
