"""The network, its export to ONNX and the way back."""
