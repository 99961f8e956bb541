"""``wakeword serve``: wake words over the network, for Home Assistant and everything else that speaks Wyoming.

The path of a chunk: ``wire.read_event`` -> ``connection.Connection`` -> ``client_stream.ListeningStream``, which holds a
``Detector`` of its own on the models of ``words.OfferedWords``, which all connections share. ``server`` accepts connections
and ends them, ``status_pages`` shows what ``telemetry`` has counted, ``announcing`` makes the server known in the local
network.
"""
