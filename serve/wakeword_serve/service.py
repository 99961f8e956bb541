"""Serving from beginning to end."""

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from wakeword.audio.stopping import StopSignals
from wakeword.model.installed import shipped_models
from wakeword.saving.keeper import Keeper
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver
from wakeword_serve.announcing import Announcement, host_name
from wakeword_serve.client_stream import Found, StreamSettings
from wakeword_serve.connection import Shared, TimeLimits
from wakeword_serve.fair_share import FairTurns
from wakeword_serve.groups import Groups
from wakeword_serve.hours import HeardHours
from wakeword_serve.labels import Labeller
from wakeword_serve.places import Network, Place, is_loopback
from wakeword_serve.server import Limits, Server
from wakeword_serve.speech_to_text import SpeechToText
from wakeword_serve.status_pages import Web, WebSettings
from wakeword_serve.telemetry import Telemetry
from wakeword_serve.words import OfferedWords, WordSettings

logger = logging.getLogger("wakeword.serve")

_MOST_WAITING = 64
"""Detections that may wait for the disk."""
_BUSY = 0.5
"""The load from which on nothing is labelled."""
_LOG_LEVELS = {"refused": logging.WARNING, "limit": logging.WARNING}


@dataclass(frozen=True)
class ServeSettings:
    """Everything that the options of ``wakeword serve`` say."""

    place: Place
    files: Sequence[Path]
    """Model files; without these and ``folder`` the included models."""
    folder: Path | None
    words: WordSettings
    streams: StreamSettings
    save: Path | None
    save_limit: float
    """Megabytes."""
    keep: bool
    """Whether to keep wakes and near misses, for `wakeword review`."""
    speech: SpeechToText | None
    """What labels the events that are kept."""
    zeroconf: bool
    zeroconf_name: str | None
    web: WebSettings | None
    limits: Limits
    groups: Mapping[str, Sequence[Network]]
    times: TimeLimits
    threads: int
    """That score windows; 0 for none but the event loop's."""


def run_server(settings: ServeSettings) -> bool:
    """Serve until a signal comes, or the input of stdio ends; return whether it was a signal. All is then closed and saved.

    Raises ``ConfigError`` and ``ModelError``.
    """
    loop: asyncio.AbstractEventLoop | None = None
    server: Server | None = None
    early = threading.Event()

    def on_signal() -> None:
        early.set()
        if loop is not None and server is not None:
            with suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(server.stop)

    with ExitStack() as stack:
        # First, so that a signal while the models are loaded is a clean end too.
        stop = stack.enter_context(StopSignals(on_signal))
        words = _offered(settings)
        saver = _saver(settings)
        if saver is not None:
            stack.callback(saver.close, lambda: stop.seconds_left)
        streams = settings.streams
        keeper = None
        if settings.keep:
            keeper = Keeper(
                complain=lambda line: logger.warning("%s", line, extra={"event": "keep"}),
                note=lambda line: _report("keep", line),
            )
            stack.callback(keeper.close, lambda: stop.seconds_left)
            hours = HeardHours(keeper.folder, lambda line: logger.warning("%s", line, extra={"event": "keep"}))
            stack.callback(lambda: hours.close(stop.seconds_left))
            streams = replace(streams, keep=keeper, hours=hours)
        executor = ThreadPoolExecutor(settings.threads, "wakeword-score") if settings.threads else None
        if executor is not None:
            stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        turns = FairTurns(executor, settings.threads)

        def save(found: Found) -> None:
            if saver is not None:
                saver.save(replace(found.detection, keyword=found.word.phrase))

        async def serve() -> None:
            nonlocal loop, server
            shared = Shared(words, streams, settings.times, Telemetry(), turns, save, groups=Groups(settings.groups))
            server = Server(shared, settings.place, settings.limits)
            loop = asyncio.get_running_loop()
            if not early.is_set():
                await _serve(server, settings, keeper)

        asyncio.run(serve())
    return early.is_set()


def _offered(settings: ServeSettings) -> OfferedWords:
    """The words of the server, with what there is to say of their limits. Raises as ``run_server`` does."""
    files = settings.files if settings.files or settings.folder else list(shipped_models().values())
    words = OfferedWords(files, settings.folder, settings.words)
    words.report = _report
    for word in words.by_name.values():
        for line in word.warnings:
            _report("limit", line)
    words.refresh(at_once=True)
    return words


async def _serve(server: Server, settings: ServeSettings, keeper: Keeper | None) -> None:
    serving = asyncio.create_task(server.run())
    ready = asyncio.create_task(server.ready.wait())
    announcing: asyncio.Task[None] | None = None
    try:
        await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            with ExitStack() as stack:
                if settings.zeroconf:
                    name = settings.zeroconf_name or f"wakeword-{host_name()}"
                    announcing = asyncio.create_task(Announcement(name, server.sockets).run())
                if keeper is not None and settings.speech is not None:
                    stack.enter_context(
                        Labeller(keeper.folder, settings.speech, server.words.stage_of, lambda: server.load > _BUSY)
                    )
                web = None if settings.web is None else stack.enter_context(Web(server, settings.web, keeper))
                _greet(server, settings, web)
                _warn_of_open_web(settings, web)
                await asyncio.wait({serving})
    finally:
        ready.cancel()
        server.stop()
        if announcing is not None:
            announcing.cancel()
            with suppress(asyncio.CancelledError):
                await announcing
        await serving


def _greet(server: Server, settings: ServeSettings, web: Web | None) -> None:
    words = ", ".join(f"'{name}'" for name in server.words.by_name) or "nothing yet"
    if settings.place.scheme == "tcp":
        addresses = [one.getsockname() for one in server.sockets]
        where = ", ".join(
            f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}" for host, port, *_ in addresses
        )
    else:
        where = f"unix://{settings.place.path}" if settings.place.scheme == "unix" else "stdio://"
    logger.info("serving %s at %s%s", words, where, f", {web.url}" if web else "", extra={"event": "ready"})
    if not server.words.by_name:
        logger.warning("%s: expected a model that can be used, found none; copy a model file there", settings.folder)


def _warn_of_open_web(settings: ServeSettings, web: Web | None) -> None:
    """Anyone who has narrowed one side may think that the other one is narrow too."""
    if web is None or settings.web is None or settings.web.networks or not settings.limits.networks:
        return
    if not all(is_loopback(one.getsockname()[0]) for one in web.sockets):
        logger.warning("--allow does not narrow who may see %s; --http-allow does", web.url, extra={"event": "limit"})


def _saver(settings: ServeSettings) -> Saver | None:
    if settings.save is None:
        return None
    return Saver(
        SavedPairs(settings.save, round(1e6 * settings.save_limit)),
        most_waiting=_MOST_WAITING,
        wait_for_room=False,
        complain=lambda message: logger.warning("%s", message, extra={"event": "save"}),
        note=lambda message: logger.info("%s", message, extra={"event": "save"}),
    )


def _report(event: str, message: str) -> None:
    logger.log(_LOG_LEVELS.get(event, logging.INFO), "%s", message.removeprefix("warning: "), extra={"event": event})
