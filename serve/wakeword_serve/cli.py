"""``wakeword serve``: wake words for Home Assistant and other clients of the Wyoming protocol."""

import logging
import os

from wakeword.base.plugins import require
from wakeword.cli.option_class import command
from wakeword_serve.logs import set_up_logs
from wakeword_serve.serve_options import ServeOptions


@command
def serve(options: ServeOptions) -> None:
    """Serve wake words to Home Assistant and other clients of the Wyoming protocol.

    A word is known to clients by the name of its model file. Only this machine can connect unless --uri and --http name
    other addresses. Ctrl-C and SIGTERM end the server with status 0.
    """
    require("serve", "wyoming", "zeroconf", "prometheus_client")
    if options.playback_channel:
        require("echo", "wakeword_echo")
    # Only now: it needs the packages of the extra.
    from wakeword_serve.service import run_server

    set_up_logs(debug=options.debug)
    run_server(options)
    # All is closed and saved. To take the interpreter and the models apart would take most of a second.
    logging.shutdown()
    os._exit(0)
