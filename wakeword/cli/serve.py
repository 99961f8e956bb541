"""``wakeword serve``: wake words for Home Assistant and other clients of the Wyoming protocol."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.listen.listen import MinGapOption, PreRollOption, SaveLimitOption, SaveOption
from wakeword.cli.options import ModelOption, PointOption, ThresholdOption, VerifyOption
from wakeword.cli.ranges import finite
from wakeword.cli.serving import ServeOptions, serve_with
from wakeword.serve.logs import LogFormat

_UriOption = Annotated[str, typer.Option("--uri", help="Where to serve: tcp://HOST:PORT, unix://PATH or stdio://.")]
_KeywordOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keyword",
        metavar="K",
        help="A model that `wakeword models` lists; repeatable. Default: all included ones, without --model and --models.",
    ),
]
_ModelsOption = Annotated[
    Path | None,
    typer.Option("--models", metavar="DIR", help="A folder of model files, followed while the server runs."),
]
_ZeroconfOption = Annotated[
    bool, typer.Option("--zeroconf", help="Announce the server in the local network, where Home Assistant finds it.")
]
_ZeroconfNameOption = Annotated[
    str | None, typer.Option("--zeroconf-name", metavar="NAME", help="Announce it as NAME. Default: wakeword-HOSTNAME.")
]
_HttpOption = Annotated[
    str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve /healthz, /metrics and a live page here.")
]
_HttpNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--http-name",
        metavar="NAME",
        help="A name of this machine that the page answers to beside local ones; repeatable.",
    ),
]
_CertificateOption = Annotated[
    Path | None, typer.Option("--http-cert", metavar="FILE", help="Certificate (PEM) for https, with --http-key.")
]
_KeyOption = Annotated[Path | None, typer.Option("--http-key", metavar="FILE", help="Its key (PEM).")]
_HttpAllowOption = Annotated[
    list[str] | None,
    typer.Option("--http-allow", metavar="NETWORK", help="Answer only to this network by http; repeatable."),
]
_HttpIngressOption = Annotated[
    bool,
    typer.Option("--http-ingress", help="For add-ons: answer by http only to Home Assistant, which shows the page."),
]
_AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="NETWORK", help="Let only clients of this network connect by tcp; repeatable."),
]
_LogFormatOption = Annotated[LogFormat, typer.Option("--log-format", help="How to write the log, on stderr.")]
_DebugOption = Annotated[bool, typer.Option("--debug", help="Log connections, requests and what clients leave.")]
_ThreadsOption = Annotated[
    int, typer.Option("--threads", metavar="N", min=0, max=64, help="Threads that score; 0: the event loop's own.")
]
_ConnectionsOption = Annotated[
    int, typer.Option("--max-connections", metavar="N", min=1, max=10_000, help="Refuse clients beyond this number.")
]
_IdleOption = Annotated[
    float,
    typer.Option(
        "--idle-timeout",
        metavar="SECONDS",
        min=1,
        max=604_800,
        callback=finite,
        help="Close a connection without events after this.",
    ),
]


def serve(
    uri: _UriOption = "tcp://127.0.0.1:10400",
    keyword: _KeywordOption = None,
    model: ModelOption = None,
    models: _ModelsOption = None,
    threshold: ThresholdOption = None,
    point: PointOption = None,
    verify: VerifyOption = True,
    min_gap: MinGapOption = 1.0,
    save: SaveOption = None,
    save_limit: SaveLimitOption = 1_000.0,
    pre_roll: PreRollOption = 0.5,
    zeroconf: _ZeroconfOption = False,
    zeroconf_name: _ZeroconfNameOption = None,
    http: _HttpOption = None,
    http_name: _HttpNameOption = None,
    http_cert: _CertificateOption = None,
    http_key: _KeyOption = None,
    http_allow: _HttpAllowOption = None,
    http_ingress: _HttpIngressOption = False,
    allow: _AllowOption = None,
    threads: _ThreadsOption = 2,
    max_connections: _ConnectionsOption = 256,
    idle_timeout: _IdleOption = 3_600.0,
    log_format: _LogFormatOption = LogFormat.TEXT,
    debug: _DebugOption = False,
) -> None:
    """Serve wake words to Home Assistant and other clients of the Wyoming protocol.

    A word is known to clients by the name of its model file. Only this machine can connect unless --uri and --http name
    other addresses. Ctrl-C and SIGTERM end the server with status 0.
    """
    serve_with(
        ServeOptions(
            uri=uri,
            keywords=keyword or [],
            models=model or [],
            folder=models,
            threshold=threshold,
            point=point,
            verify=verify,
            min_gap=min_gap,
            save=save,
            save_limit=save_limit,
            pre_roll=pre_roll,
            zeroconf=zeroconf,
            zeroconf_name=zeroconf_name,
            http=http,
            http_names=http_name or [],
            http_cert=http_cert,
            http_key=http_key,
            http_allow=http_allow or [],
            http_ingress=http_ingress,
            allow=allow or [],
            threads=threads,
            max_connections=max_connections,
            idle_timeout=idle_timeout,
            log_format=log_format,
            debug=debug,
        )
    )
