"""Input devices through PortAudio: their list, their blocks and clocks, and how to continue after one is lost."""
