"""The commands that write and read files of other engines."""
