"""Wake-word engines that are compared. Packages add the engines of others by entry points."""
