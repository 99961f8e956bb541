"""Methods against each other on recorded wake words."""
