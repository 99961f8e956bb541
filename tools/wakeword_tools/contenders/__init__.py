"""Wake-word engines that are compared. Those of others come from packages, by entry points."""
