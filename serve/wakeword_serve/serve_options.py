"""The options of ``wakeword serve``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.listen.reactions import KeepOption, PreRollOption, SaveLimitOption, SaveOption
from wakeword.cli.options import MinGapOption, ModelOption, VoicePointOptions, keyword_option
from wakeword.cli.ranges import number_option, option


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of the command."""

    uri: Annotated[str, option("--uri", "Serve here.", "tcp://HOST:PORT")] = "tcp://127.0.0.1:10400"
    keyword: Annotated[
        list[str] | None,
        keyword_option(
            "A model that `wakeword models` lists; repeatable. Default: all included ones, without --model and --models."
        ),
    ] = None
    model: ModelOption = None
    models: Annotated[
        Path | None, option("--models", "A folder of model files, followed while the server runs.", "DIR")
    ] = None
    points: VoicePointOptions
    min_gap: MinGapOption = 1.0
    save: SaveOption = None
    save_limit: SaveLimitOption = 1_000.0
    pre_roll: PreRollOption = 0.5
    keep: KeepOption = None
    zeroconf: Annotated[
        bool, option("--zeroconf", "Announce the server in the local network, where Home Assistant finds it.")
    ] = False
    zeroconf_name: Annotated[
        str | None, option("--zeroconf-name", "Announce it as NAME. Default: wakeword-HOSTNAME.", "NAME")
    ] = None
    http: Annotated[str | None, option("--http", "Serve /healthz, /metrics and a live page here.", "HOST:PORT")] = None
    http_name: Annotated[
        list[str] | None,
        option("--http-name", "A name of this machine that the page answers to beside local ones; repeatable.", "NAME"),
    ] = None
    http_allow: Annotated[
        list[str] | None, option("--http-allow", "Answer only to this network by http; repeatable.", "NETWORK")
    ] = None
    http_ingress: Annotated[
        bool, option("--http-ingress", "For add-ons: answer by http only to Home Assistant, which shows the page.")
    ] = False
    allow: Annotated[
        list[str] | None, option("--allow", "Let only clients of this network connect by tcp; repeatable.", "NETWORK")
    ] = None
    group: Annotated[
        list[str] | None,
        option(
            "--group",
            "Satellites of one home: the first to hear a word answers; repeatable.",
            "NAME=ADDRESS[,ADDRESS...]",
        ),
    ] = None
    playback_channel: Annotated[
        bool, option("--playback-channel", "The second channel of a client's audio is what its loudspeaker gets.")
    ] = False
    threads: Annotated[int, number_option("--threads", "N", 0, 64, "Threads that score; 0: the event loop's own.")] = 2
    max_connections: Annotated[
        int, number_option("--max-connections", "N", 1, 10_000, "Refuse clients beyond this number.")
    ] = 256
    debug: Annotated[bool, option("--debug", "Log connections, requests and what clients leave.")] = False

    def __post_init__(self) -> None:
        if self.http is None and (self.http_name or self.http_allow or self.http_ingress):
            raise typer.BadParameter("--http-name, --http-allow and --http-ingress need --http")
        if self.http_ingress and (self.http_name or self.http_allow):
            raise typer.BadParameter("--http-ingress takes no --http-name or --http-allow")
        if self.zeroconf_name is not None and not self.zeroconf:
            raise typer.BadParameter("--zeroconf-name needs --zeroconf")
