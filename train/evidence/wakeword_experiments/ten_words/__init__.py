"""Ten words, five methods and two poolings: the comparison that decides the default of ``wakeword train``."""
