"""Text-to-speech engines, one module each, with a common protocol and a registry."""
