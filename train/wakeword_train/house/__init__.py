"""A model that learns from its house: from kept events to a new version, or to the reason why there is none."""
