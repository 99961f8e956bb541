"""Voices that a user installs: fetching, checking and listing them."""
