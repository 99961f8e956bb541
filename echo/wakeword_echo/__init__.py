"""A device's own sound: takes the echo of its loudspeaker out of what its microphone hears.

The way of a block: ``playback_reader`` reads what the loudspeaker gets, ``own_sound`` joins both signals by their samples,
``echo_canceller`` takes out the echo, and ``own_word`` keeps the word that the loudspeaker says from firing. The runtime
asks for these in ``wakeword.stream.sound_input``.
"""
