"""Models as files of other engines."""
