"""Training methods: DROCC and its relatives, cross-entropy."""
