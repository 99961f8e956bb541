"""The command that writes files of other engines."""
