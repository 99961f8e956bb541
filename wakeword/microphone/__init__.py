"""Input devices through PortAudio: which there are, their blocks and clocks, and what becomes of one that goes away."""
