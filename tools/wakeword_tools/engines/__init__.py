"""Text-to-speech engines, one file for each, behind one protocol and one registry."""
