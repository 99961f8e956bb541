"""Work on many recordings: planned by duration, on the cores of this machine or of a cluster, with a journal to resume."""
