"""Many streams that share one network's calls."""
