"""The page that listens in a browser, served from this machine.

``runtime`` gets ONNX Runtime for the web, ``page_server`` knows the files and serves them, by ``bounded_http`` and only to
those who ask for this machine (``own_host``). The package ``wakeword_serve`` shows its page by the latter two as well.
"""
