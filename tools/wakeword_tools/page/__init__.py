"""Pieces of pages: one HTML file that loads nothing."""
