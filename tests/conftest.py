"""What all tests share is in ``support.plugin``."""

pytest_plugins = ["support.plugin", "support.commands"]

collect_ignore = ["homeassistant"]
"""Needs an environment of its own, which `make test-ha` makes."""
