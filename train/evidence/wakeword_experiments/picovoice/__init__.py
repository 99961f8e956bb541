"""The public benchmark of the field, Picovoice's wake-word-benchmark, by its own protocol."""
