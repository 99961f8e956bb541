"""The page that listens in a browser, served from this machine.

``runtime`` gets ONNX Runtime for the web, ``page_server`` knows the files and serves them.
"""
