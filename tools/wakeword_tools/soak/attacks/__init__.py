"""A fixed set of attacks, by class, on any checkout: what survives them before a change and after it."""
