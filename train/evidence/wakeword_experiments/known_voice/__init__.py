"""What a known voice is worth."""
