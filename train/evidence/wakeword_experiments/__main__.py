"""``python -m wakeword_experiments``."""

from wakeword_experiments.cli import main

if __name__ == "__main__":
    main()
