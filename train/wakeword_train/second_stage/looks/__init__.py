"""Looks at words and at background, and what both stages say of them."""
