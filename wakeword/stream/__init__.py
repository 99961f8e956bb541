"""One live stream of audio and its keywords; ``stream.pool`` has many streams in one batch."""
