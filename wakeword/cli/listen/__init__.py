"""``wakeword listen``: the command, and what a detection sets off."""
