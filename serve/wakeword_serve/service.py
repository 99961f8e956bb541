"""Serving from beginning to end."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace

from wakeword.audio.stopping import StopSignals
from wakeword.browser.own_host import host_names_of
from wakeword.cli.options import refractory_frames
from wakeword.model.installed import model_file, shipped_models
from wakeword.saving.keeper import Keeper
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver
from wakeword_serve.addresses import DEFAULT_PORT, SUPERVISOR, host_and_port, networks_of
from wakeword_serve.announcing import Announcement, host_name
from wakeword_serve.client_stream import Found, StreamSettings
from wakeword_serve.connection import Shared, TimeLimits
from wakeword_serve.fair_share import ScoringThreads
from wakeword_serve.groups import Groups, groups_of
from wakeword_serve.hours import ListenedHours
from wakeword_serve.serve_options import ServeOptions
from wakeword_serve.server import Server
from wakeword_serve.status_pages import Web, WebSettings
from wakeword_serve.telemetry import Telemetry
from wakeword_serve.words import OfferedWords

logger = logging.getLogger("wakeword.serve")

_MAX_WAITING = 64
"""Detections that may wait for the disk."""


def run_server(options: ServeOptions) -> None:
    """Serve until a signal comes. All is then closed and saved, what was opened last first.

    Raises ``ConfigError`` and ``ModelError``.
    """
    place = host_and_port(options.uri.removeprefix("tcp://"), "--uri tcp://", "127.0.0.1:10400", DEFAULT_PORT)
    web = _web_settings(options)
    networks, groups = networks_of(options.allow or []), Groups(groups_of(options.group or []))
    streams = StreamSettings(
        refractory_frames(options.min_gap),
        0.0 if options.save is None else options.pre_roll,
        options.playback_channel,
        voices=options.points.voices,
    )
    running: list[tuple[asyncio.AbstractEventLoop, Server]] = []

    def end() -> None:
        """Called in the signal handler, which must not touch the server itself: its loop may be at any point."""
        for loop, server in running:
            with suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(server.stop)

    with ExitStack() as stack:
        # First, so that a signal while the models are loaded is a clean end too.
        stop = stack.enter_context(StopSignals(end))
        words = _offered(options)
        save = _saving(options, stack, stop)
        keeper, hours = _keeping(options, stack, stop)
        executor = ThreadPoolExecutor(options.threads, "wakeword-score") if options.threads else None
        if executor is not None:
            stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        streams = replace(streams, keep=keeper, hours=hours)
        shared = Shared(words, streams, TimeLimits(), Telemetry(), ScoringThreads(executor), save, groups=groups)

        async def serve() -> None:
            server = Server(shared, *place, most=options.max_connections, networks=networks)
            running.append((asyncio.get_running_loop(), server))
            if stop.seconds_left is None:  # no signal has come; one that comes from now on finds the server
                await _serve(server, options, web, keeper)

        asyncio.run(serve())


def _web_settings(options: ServeOptions) -> WebSettings | None:
    if options.http is None:
        return None
    seeing = (SUPERVISOR,) if options.http_ingress else tuple(networks_of(options.http_allow or [], "--http-allow"))
    names = tuple(host_names_of(options.http_name or []))
    return WebSettings(*host_and_port(options.http), seeing, names, ingress=options.http_ingress)


def _offered(options: ServeOptions) -> OfferedWords:
    """The words of the server. Raises as ``run_server`` does."""
    files = [*map(model_file, options.keyword or []), *(options.model or [])]
    if not files and options.models is None:
        files = list(shipped_models().values())
    words = OfferedWords(files, options.models, options.points, playback=options.playback_channel)
    words.refresh(at_once=True)
    return words


def _saving(options: ServeOptions, stack: ExitStack, stop: StopSignals) -> Callable[[Found], object]:
    """What is called with each detection: it saves its audio until ``stack`` is closed, or does nothing."""
    if options.save is None:
        return lambda found: None
    pairs = SavedPairs(options.save, round(1e6 * options.save_limit))
    saver = Saver(pairs, most_waiting=_MAX_WAITING, wait_for_room=False, complain=logger.warning, note=logger.info)
    stack.callback(saver.close, lambda: stop.seconds_left)
    return lambda found: saver.save(replace(found.detection, keyword=found.word.phrase))


def _keeping(
    options: ServeOptions, stack: ExitStack, stop: StopSignals
) -> tuple[Keeper, ListenedHours] | tuple[None, None]:
    """What keeps wakes and near misses, and the hours that they are counted against; closed with ``stack``."""
    if options.keep is None:
        return None, None
    keeper = Keeper(complain=logger.warning, note=logger.info)
    stack.callback(keeper.close, lambda: stop.seconds_left)
    hours = ListenedHours(keeper.folder, logger.warning)
    stack.callback(lambda: hours.close(stop.seconds_left))
    return keeper, hours


async def _serve(server: Server, options: ServeOptions, pages: WebSettings | None, keeper: Keeper | None) -> None:
    serving = asyncio.create_task(server.run())
    ready = asyncio.create_task(server.ready.wait())
    announcing: asyncio.Task[None] | None = None
    try:
        await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            with ExitStack() as stack:
                if options.zeroconf:
                    name = options.zeroconf_name or f"wakeword-{host_name()}"
                    announcing = asyncio.create_task(Announcement(name, server.socket).run())
                web = None if pages is None else stack.enter_context(Web(server, pages, keeper))
                _greet(server, options, web)
                await asyncio.wait({serving})
    finally:
        ready.cancel()
        server.stop()
        if announcing is not None:
            announcing.cancel()
            with suppress(asyncio.CancelledError):
                await announcing
        await serving


def _greet(server: Server, options: ServeOptions, web: Web | None) -> None:
    words = ", ".join(f"'{name}'" for name in server.words.by_name) or "nothing yet"
    host, port = server.socket.getsockname()[:2]
    where = f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
    logger.info("serving %s at %s%s", words, where, f", {web.url}" if web else "")
    if not server.words.by_name:
        logger.warning("%s: expected a model that can be used, found none; copy a model file there", options.models)
    # Anyone who has narrowed one side may think that the other one is narrow too.
    if web is not None and web.is_open and options.allow and not (options.http_allow or options.http_ingress):
        logger.warning("--allow does not narrow who may see %s; --http-allow does", web.url)
