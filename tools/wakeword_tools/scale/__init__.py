"""What scanning many recordings costs, measured and on paper: ``python -m wakeword_tools.scale``."""
