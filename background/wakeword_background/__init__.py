"""The starter pack of ``wakeword train``, ``starter.pack`` beside this file: features of speech, without audio."""
