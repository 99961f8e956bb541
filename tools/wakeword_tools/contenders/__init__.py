"""Wake-word engines that are compared: one file and one line in the registry each."""
