"""The model file: its card, operating points, and the bounded reading of its ONNX graphs."""
