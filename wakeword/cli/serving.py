"""From the options of ``wakeword serve`` to a server."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

import typer

from wakeword.cli.options import refractory_frames
from wakeword.model.installed import model_file
from wakeword.serve.extra import require_extra
from wakeword.serve.logs import LogFormat, set_up_logs
from wakeword.serve.places import SUPERVISOR, host_and_port, host_names_of, networks_of, place_of


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
    http_allow: list[str]
    http_ingress: bool
    allow: list[str]
    threads: int
    max_connections: int
    idle_timeout: float
    log_format: LogFormat
    debug: bool

    def __post_init__(self) -> None:
        if self.threshold is not None and self.point is not None:
            raise typer.BadParameter("give --threshold or --point, not both")
        certificates = self.http_cert is not None or self.http_key is not None
        if self.http is None and (self.http_names or certificates or self.http_allow or self.http_ingress):
            raise typer.BadParameter(
                "--http-name, --http-cert, --http-key, --http-allow and --http-ingress need --http"
            )
        if self.http_ingress and (self.http_names or certificates or self.http_allow):
            raise typer.BadParameter("--http-ingress takes no --http-name, --http-cert, --http-key or --http-allow")
        if self.zeroconf_name is not None and not self.zeroconf:
            raise typer.BadParameter("--zeroconf-name needs --zeroconf")


def serve_with(options: ServeOptions) -> None:
    """Serve as the options say. Raises ``ConfigError`` and ``ModelError``, also where the extra is not installed."""
    require_extra()
    # Only now: these modules need the packages of the extra.
    from wakeword.serve.client_stream import StreamSettings
    from wakeword.serve.connection import TimeLimits
    from wakeword.serve.server import Limits
    from wakeword.serve.service import ServeSettings, run_server
    from wakeword.serve.status_pages import WebSettings
    from wakeword.serve.words import WordSettings

    set_up_logs(options.log_format, debug=options.debug)
    networks = tuple(networks_of(options.allow))
    web = None
    if options.http is not None:
        seeing = (SUPERVISOR,) if options.http_ingress else tuple(networks_of(options.http_allow, "--http-allow"))
        web = WebSettings(
            *host_and_port(options.http),
            options.http_cert,
            options.http_key,
            seeing,
            tuple(host_names_of(options.http_names)),
            ingress=options.http_ingress,
        )
    stopped = run_server(
        ServeSettings(
            place=place_of(options.uri),
            files=[*map(model_file, options.keywords), *options.models],
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
