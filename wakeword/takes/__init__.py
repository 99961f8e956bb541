"""A person's own recordings of a wake word: cut, checked, stored and played."""
