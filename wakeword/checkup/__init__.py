"""Whether a microphone and a machine are fit to listen: measurements, and findings with advice."""
