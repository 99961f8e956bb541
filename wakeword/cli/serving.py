"""From the options of ``wakeword serve`` to a server."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

import typer

from wakeword.cli.options import refractory_frames
from wakeword.errors import ModelError
from wakeword.model import shipped_models
from wakeword.serve.extra import require_extra
from wakeword.serve.logs import LogFormat, set_up_logs
from wakeword.serve.places import host_and_port, host_names_of, networks_of, place_of


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options as they are given. Raises ``typer.BadParameter`` if they contradict each other."""

    uri: str
    keywords: list[str]
    models: list[Path]
    folder: Path | None
    threshold: float | None
    point: str | None
    verify: bool
    min_gap: float
    save: Path | None
    save_limit: float
    pre_roll: float
    zeroconf: bool
    zeroconf_name: str | None
    http: str | None
    http_names: list[str]
    http_cert: Path | None
    http_key: Path | None
    allow: list[str]
    threads: int
    max_connections: int
    idle_timeout: float
    log_format: LogFormat
    debug: bool

    def __post_init__(self) -> None:
        if self.threshold is not None and self.point is not None:
            raise typer.BadParameter("give --threshold or --point, not both")
        if self.http is None and self.http_names:
            raise typer.BadParameter("--http-name needs --http")
        if self.http is None and (self.http_cert is not None or self.http_key is not None):
            raise typer.BadParameter("--http-cert and --http-key need --http")
        if self.zeroconf_name is not None and not self.zeroconf:
            raise typer.BadParameter("--zeroconf-name needs --zeroconf")


def serve_with(options: ServeOptions) -> None:
    """Serve as the options say. Raises ``ConfigError`` and ``ModelError``, also where the extra is not installed."""
    require_extra()
    # Only now: these modules need the packages of the extra.
    from wakeword.serve.connection import TimeLimits
    from wakeword.serve.run import ServeSettings, run_server
    from wakeword.serve.server import Limits
    from wakeword.serve.stream import StreamSettings
    from wakeword.serve.web import WebSettings
    from wakeword.serve.words import WordSettings

    set_up_logs(options.log_format, debug=options.debug)
    networks = tuple(networks_of(options.allow))
    web = None
    if options.http is not None:
        names = tuple(host_names_of(options.http_names))
        web = WebSettings(*host_and_port(options.http), options.http_cert, options.http_key, networks, names)
    stopped = run_server(
        ServeSettings(
            place=place_of(options.uri),
            files=[*_shipped(options.keywords), *options.models],
            folder=options.folder,
            words=WordSettings(options.point, options.threshold, options.verify),
            streams=StreamSettings(
                refractory_frames(options.min_gap), 0.0 if options.save is None else options.pre_roll
            ),
            save=options.save,
            save_limit=options.save_limit,
            zeroconf=options.zeroconf,
            zeroconf_name=options.zeroconf_name,
            web=web,
            limits=Limits(options.max_connections, networks),
            times=TimeLimits(idle=options.idle_timeout),
            threads=options.threads,
        )
    )
    if stopped:
        # All is closed and saved. To take the interpreter and the models apart would take most of a second.
        logging.shutdown()
        os._exit(0)


def _shipped(keywords: list[str]) -> list[Path]:
    """The files of shipped keywords. Raises ``ModelError`` for others."""
    shipped = shipped_models()
    for keyword in keywords:
        if keyword not in shipped:
            known = ", ".join(shipped) or "none"
            raise ModelError(f"no shipped model for keyword {keyword!r} (shipped: {known}); give a file with --model")
    return [shipped[keyword] for keyword in keywords]
