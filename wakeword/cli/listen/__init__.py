"""``wakeword listen``: the command, and its reactions to a detection."""
