"""Texts to speak: pronunciations, texts that sound alike, word lists and their splits."""
