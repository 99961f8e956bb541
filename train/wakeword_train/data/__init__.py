"""From folders of recordings to batches of features."""
