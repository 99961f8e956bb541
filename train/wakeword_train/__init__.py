"""Training of wake-word models. The only part of the project that imports torch."""
