"""What is said: pronunciations, texts that sound alike, word lists and their split."""
