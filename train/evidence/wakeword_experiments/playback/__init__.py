"""What a detector gains from a playback reference: see ``playback_run``."""
