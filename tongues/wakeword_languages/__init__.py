"""A recogniser of phonemes that many languages taught, ``phonemes.onnx`` beside this file, and what it needs."""
