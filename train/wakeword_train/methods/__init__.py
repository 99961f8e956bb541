"""Training methods: DROCC and its relatives, DeepSAD, cross-entropy."""
