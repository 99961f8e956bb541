"""Training of the second stage: looks, their embeddings, the head, the fusion, and the evidence for thresholds."""
