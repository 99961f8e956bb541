"""One-class problems with a known answer, as in the paper."""
