"""What experiments share: folds over people, how training dealt recordings, other engines' models."""
