"""Sets of synthesised clips: who says what and how, and the audio."""
