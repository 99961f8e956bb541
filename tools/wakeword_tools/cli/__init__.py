"""The commands that measure models and synthesise speech."""
