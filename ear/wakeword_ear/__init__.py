"""A recogniser of phonemes that hears more than the included one, ``phonemes.onnx`` beside this file, and what it needs."""
