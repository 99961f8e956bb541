"""The starter pack: features of openly licensed speech, without audio, as background for any word."""
