"""The cost of listening on this machine, beside other engines."""
