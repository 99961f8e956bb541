"""``wakeword serve``: wake words for Home Assistant and other clients of the Wyoming protocol."""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import AudioError, ModelError
from wakeword.base.plugins import require
from wakeword.browser.own_host import host_names_of
from wakeword.cli.completion import model_names
from wakeword.cli.console import complain
from wakeword.cli.listen.reactions import KeepOption, PreRollOption, SaveLimitOption, SaveOption
from wakeword.cli.option_class import command
from wakeword.cli.options import MinGapOption, ModelOption, VoicePointOptions, refractory_frames
from wakeword.cli.ranges import finite, separate
from wakeword.model.installed import model_file, model_name
from wakeword.model.model import read_model
from wakeword.saving.sorting import SavedPair, read_pair
from wakeword.verify.verifier import SecondStage
from wakeword_serve.logs import LogFormat, set_up_logs
from wakeword_serve.places import SUPERVISOR, host_and_port, networks_of, place_of


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of the command."""

    uri: Annotated[str, typer.Option("--uri", help="Where to serve: tcp://HOST:PORT, unix://PATH or stdio://.")] = (
        "tcp://127.0.0.1:10400"
    )
    keyword: Annotated[
        list[str] | None,
        typer.Option(
            "--keyword",
            metavar="K",
            autocompletion=model_names,
            callback=separate,
            help="A model that `wakeword models` lists; repeatable. Default: all included ones, "
            "without --model and --models.",
        ),
    ] = None
    model: ModelOption = None
    models: Annotated[
        Path | None,
        typer.Option("--models", metavar="DIR", help="A folder of model files, followed while the server runs."),
    ] = None
    points: VoicePointOptions
    min_gap: MinGapOption = 1.0
    save: SaveOption = None
    save_limit: SaveLimitOption = 1_000.0
    pre_roll: PreRollOption = 0.5
    keep: KeepOption = None
    label_with: Annotated[
        str | None,
        typer.Option(
            "--label-with",
            metavar="URI",
            help="Label what --keep keeps, with this Wyoming speech-to-text: tcp://HOST:PORT. It gets the audio.",
        ),
    ] = None
    zeroconf: Annotated[
        bool,
        typer.Option("--zeroconf", help="Announce the server in the local network, where Home Assistant finds it."),
    ] = False
    zeroconf_name: Annotated[
        str | None,
        typer.Option("--zeroconf-name", metavar="NAME", help="Announce it as NAME. Default: wakeword-HOSTNAME."),
    ] = None
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve /healthz, /metrics and a live page here.")
    ] = None
    http_name: Annotated[
        list[str] | None,
        typer.Option(
            "--http-name",
            metavar="NAME",
            help="A name of this machine that the page answers to beside local ones; repeatable.",
        ),
    ] = None
    http_cert: Annotated[
        Path | None, typer.Option("--http-cert", metavar="FILE", help="Certificate (PEM) for https, with --http-key.")
    ] = None
    http_key: Annotated[Path | None, typer.Option("--http-key", metavar="FILE", help="Its key (PEM).")] = None
    http_allow: Annotated[
        list[str] | None,
        typer.Option("--http-allow", metavar="NETWORK", help="Answer only to this network by http; repeatable."),
    ] = None
    http_ingress: Annotated[
        bool,
        typer.Option(
            "--http-ingress", help="For add-ons: answer by http only to Home Assistant, which shows the page."
        ),
    ] = False
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="NETWORK", help="Let only clients of this network connect by tcp; repeatable."),
    ] = None
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=ADDRESS[,ADDRESS...]",
            help="Satellites of one home: the first to hear a word answers; repeatable.",
        ),
    ] = None
    playback_channel: Annotated[
        bool,
        typer.Option("--playback-channel", help="The second channel of a client's audio is what its loudspeaker gets."),
    ] = False
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=0, max=64, help="Threads that score; 0: the event loop's own.")
    ] = 2
    max_connections: Annotated[
        int,
        typer.Option("--max-connections", metavar="N", min=1, max=10_000, help="Refuse clients beyond this number."),
    ] = 256
    idle_timeout: Annotated[
        float,
        typer.Option(
            "--idle-timeout",
            metavar="SECONDS",
            min=1,
            max=604_800,
            callback=finite,
            help="Close a connection without events after this.",
        ),
    ] = 3_600.0
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="How to write the log, on stderr.")] = (
        LogFormat.TEXT
    )
    debug: Annotated[bool, typer.Option("--debug", help="Log connections, requests and what clients leave.")] = False

    def __post_init__(self) -> None:
        certificates = self.http_cert is not None or self.http_key is not None
        if self.http is None and (self.http_name or certificates or self.http_allow or self.http_ingress):
            raise typer.BadParameter(
                "--http-name, --http-cert, --http-key, --http-allow and --http-ingress need --http"
            )
        if self.http_ingress and (self.http_name or certificates or self.http_allow):
            raise typer.BadParameter("--http-ingress takes no --http-name, --http-cert, --http-key or --http-allow")
        if self.label_with is not None and self.keep is None:
            raise typer.BadParameter("--label-with needs --keep audio, which keeps what it labels")
        if self.zeroconf_name is not None and not self.zeroconf:
            raise typer.BadParameter("--zeroconf-name needs --zeroconf")


@command
def serve(options: ServeOptions) -> None:
    """Serve wake words to Home Assistant and other clients of the Wyoming protocol.

    A word is known to clients by the name of its model file. Only this machine can connect unless --uri and --http name
    other addresses. Ctrl-C and SIGTERM end the server with status 0.
    """
    _serve(options)


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
    require("serve", "wyoming", "zeroconf", "ifaddr", "prometheus_client")


def _serve(options: ServeOptions) -> None:
    _require_packages()
    if options.playback_channel:
        require("echo", "wakeword_echo")
    # Only now: these modules need the packages of the extra.
    from wakeword_serve.client_stream import StreamSettings
    from wakeword_serve.connection import TimeLimits
    from wakeword_serve.groups import groups_of
    from wakeword_serve.server import Limits
    from wakeword_serve.service import ServeSettings, run_server
    from wakeword_serve.speech_to_text import SpeechToText
    from wakeword_serve.status_pages import WebSettings
    from wakeword_serve.words import WordSettings

    set_up_logs(options.log_format, debug=options.debug)
    web = None
    if options.http is not None:
        seeing = (SUPERVISOR,) if options.http_ingress else tuple(networks_of(options.http_allow or [], "--http-allow"))
        web = WebSettings(
            *host_and_port(options.http),
            options.http_cert,
            options.http_key,
            seeing,
            tuple(host_names_of(options.http_name or [])),
            ingress=options.http_ingress,
        )
    stopped = run_server(
        ServeSettings(
            place=place_of(options.uri),
            files=[*map(model_file, options.keyword or []), *(options.model or [])],
            folder=options.models,
            words=WordSettings(
                options.points.point, options.points.threshold, options.points.verify, options.playback_channel
            ),
            streams=StreamSettings(
                refractory_frames(options.min_gap),
                0.0 if options.save is None else options.pre_roll,
                options.playback_channel,
                voices=options.points.voices,
            ),
            save=options.save,
            save_limit=options.save_limit,
            keep=options.keep is not None,
            speech=None if options.label_with is None else SpeechToText(options.label_with),
            zeroconf=options.zeroconf,
            zeroconf_name=options.zeroconf_name,
            web=web,
            limits=Limits(options.max_connections, tuple(networks_of(options.allow or []))),
            groups=groups_of(options.group or []),
            times=TimeLimits(idle=options.idle_timeout),
            threads=options.threads,
        )
    )
    if stopped:
        # All is closed and saved. To take the interpreter and the models apart would take most of a second.
        logging.shutdown()
        os._exit(0)
