"""Whether a microphone and a machine are suitable for listening: measurements, and findings with advice."""
