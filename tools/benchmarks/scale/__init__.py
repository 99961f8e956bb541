"""What scanning many recordings costs, measured and on paper: ``python -m benchmarks.scale``."""
