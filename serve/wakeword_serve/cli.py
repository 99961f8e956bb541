"""``wakeword serve``: wake words for Home Assistant and other clients of the Wyoming protocol."""

import logging
import os
from collections.abc import Iterable, Iterator
from functools import cache

from wakeword.base.errors import AudioError, ModelError
from wakeword.base.plugins import require
from wakeword.cli.console import complain
from wakeword.cli.option_class import command
from wakeword.model.installed import model_file, model_name
from wakeword.model.model import read_model
from wakeword.saving.sorting import SavedPair, read_pair
from wakeword.verify.verifier import SecondStage
from wakeword_serve.logs import set_up_logs
from wakeword_serve.serve_options import ServeOptions


@command
def serve(options: ServeOptions) -> None:
    """Serve wake words to Home Assistant and other clients of the Wyoming protocol.

    A word is known to clients by the name of its model file. Only this machine can connect unless --uri and --http name
    other addresses. Ctrl-C and SIGTERM end the server with status 0.
    """
    _require_packages()
    if options.playback_channel:
        require("echo", "wakeword_echo")
    # Only now: it needs the packages of the extra.
    from wakeword_serve.service import run_server

    set_up_logs(debug=options.debug)
    run_server(options)
    # All is closed and saved. To take the interpreter and the models apart would take most of a second.
    logging.shutdown()
    os._exit(0)


def label_kept(pairs: Iterable[SavedPair], uri: str) -> Iterator[SavedPair]:
    """Label kept events with a speech-to-text, and give each as it is then; what `wakeword review --label-with` calls.

    One that is damaged, or that another process has moved, is named and left out. Raises as ``label_pair`` does otherwise.
    """
    _require_packages()
    from wakeword_serve.labels import label_pair
    from wakeword_serve.speech_to_text import SpeechToText

    speech = SpeechToText(uri)
    for pair in pairs:
        try:
            label_pair(pair, speech, stage_of_name)
        except (AudioError, FileNotFoundError) as error:
            complain(error)
        else:
            labelled = read_pair(pair.data)
            if labelled is not None:
                yield labelled


@cache
def stage_of_name(phrase: str) -> SecondStage | None:
    """The second stage of the model that is known by a phrase; ``None`` if no model is."""
    try:
        return read_model(model_file(model_name(phrase))).second_stage
    except ModelError:
        return None


def _require_packages() -> None:
    require("serve", "wyoming", "zeroconf", "prometheus_client")
