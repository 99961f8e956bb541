"""A loaded model, its network, and the models that are known by name."""
