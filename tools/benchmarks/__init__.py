"""The cost of listening on this machine, compared with other engines."""
