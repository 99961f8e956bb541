"""Models as files of other engines, and the files of other engines that are measured. Only ``student`` imports torch."""
