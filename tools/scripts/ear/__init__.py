"""How the phoneme recogniser is made: Whisper's encoder, taught the dictionary's phonemes in noise and rooms."""
