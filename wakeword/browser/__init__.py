"""The page that listens in a browser, served from this machine.

``site`` knows its files, ``runtime`` gets ONNX Runtime for the web, ``server`` serves them.
"""
