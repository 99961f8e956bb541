"""Recordings wherever they are: which ones there are, and how a worker gets at one."""
