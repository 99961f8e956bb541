"""Audio: PCM blocks, sources, features, the quiet gate, and the detection that carries some of it."""
