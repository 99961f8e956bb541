"""What a training run tells the one who started it: a verdict in plain words, and a page."""
