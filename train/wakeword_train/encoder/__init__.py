"""The shipped encoder: what it is, and how it was made."""
