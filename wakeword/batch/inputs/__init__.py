"""Recordings wherever they are: which ones there are, and each as a piece of work."""
