"""``wakeword sweep``: trainings of several words, settings and seeds, compared by their validation."""
