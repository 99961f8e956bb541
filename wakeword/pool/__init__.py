"""Many streams that share the calls of one network."""
