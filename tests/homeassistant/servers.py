"""The two servers beside Home Assistant: ours, and one for speech recognition."""

import asyncio
import socket
import subprocess
import time
from pathlib import Path

from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStop
from wyoming.event import async_read_event, async_write_event
from wyoming.info import AsrModel, AsrProgram, Attribution, Describe, Info

ROOT = Path(__file__).resolve().parents[2]


class WakeServer:
    """`wakeword serve` on a free port, which it keeps when it is started again."""

    def __init__(self, python: str, arguments: list[str], *, log: Path, host: str = "127.0.0.1") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.log = log
        self.python = python
        uri = f"tcp://{host}:{self.port}"
        self._command = [python, "-m", "wakeword", "serve", "--uri", uri, *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "WakeServer":
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and wait until it accepts connections."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=log, stderr=log)
        latest = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None, self.log.read_text()
                assert time.monotonic() < latest, self.log.read_text()
                time.sleep(0.1)

    def stop(self) -> None:
        """SIGTERM: it ends soon, and with success."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            assert process.wait(timeout=10) == 0, self.log.read_text()
        finally:
            process.kill()

    def kill(self) -> None:
        """As when its machine loses its power."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None


class Recogniser:
    """A Wyoming server for speech recognition that always understands the same."""

    TEXT = "turn on the lights"

    def __init__(self) -> None:
        self.port = 0
        self.heard = bytearray()
        """The audio of all streams, 16-bit PCM."""
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Recogniser":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (event := await async_read_event(reader)) is not None:
            if Describe.is_type(event.type):
                await async_write_event(self._info().event(), writer)
            elif AudioChunk.is_type(event.type):
                self.heard += AudioChunk.from_event(event).audio
            elif AudioStop.is_type(event.type):
                await async_write_event(Transcript(self.TEXT).event(), writer)
        writer.close()

    @staticmethod
    def _info() -> Info:
        about = {"attribution": Attribution("tests", ""), "installed": True, "version": "1"}
        model = AsrModel(name="model", description="model", languages=["en"], **about)
        return Info(asr=[AsrProgram(name="recogniser", description="recogniser", models=[model], **about)])
