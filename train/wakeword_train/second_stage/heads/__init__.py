"""The head of a second stage, its training, and the heads of folds."""
