"""Sets of synthesised clips: their recipes, audio and manifests."""
