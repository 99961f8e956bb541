"""Starts `wakeword serve` with the options that were chosen in Home Assistant.

The process that Home Assistant started becomes the server, so that it gets the signal to end; it gives up the rights of
root before. A second process tells Home Assistant where the server is as soon as it answers, and ends.
"""

import json
import os
import pwd
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

OPTIONS = Path("/data/options.json")
FOLDER = Path("/config")
"""What a user of the add-on sees: models of their own in ``models``, audio of detections in ``heard``, what is kept and
labelled in ``kept``, and voices in ``known-voices``."""
USER = "wakeword"
PORT = 10_400
PAGE_PORT = 10_401
"""Of the live page, which Home Assistant shows to its users and nobody else reaches."""
SUPERVISOR = "http://supervisor"
WAIT = 60.0
"""Seconds in which the server must have started."""


def command(options: dict[str, Any], folder: Path) -> list[str]:
    """The options of `wakeword serve` for those of the add-on; what was not set is left to its own defaults."""
    arguments = ["--uri", f"tcp://0.0.0.0:{PORT}", "--models", str(folder / "models")]
    arguments += ["--http", f"0.0.0.0:{PAGE_PORT}", "--http-ingress"]
    for keyword in options.get("keywords", ()):
        arguments += ["--keyword", keyword]
    for name in ("group", "voice"):
        for value in options.get(name, ()):
            arguments += [f"--{name}", value]
    if options.get("keep"):
        arguments += ["--keep", "audio"]
    for name in ("point", "threshold", "min_gap"):
        if options.get(name) not in (None, ""):
            arguments += [f"--{name.replace('_', '-')}", str(options[name])]
    if not options.get("verify", True):
        arguments.append("--no-verify")
    if options.get("save"):
        arguments += ["--save", str(folder / "heard"), "--save-limit", str(options["save_limit"])]
    if options.get("debug"):
        arguments.append("--debug")
    return arguments


def announce(supervisor: str, token: str, host: str, port: int, *, wait: float = WAIT) -> None:
    """Wait until the server answers at a port of this machine, then offer it to Home Assistant under ``host``.

    Raises ``OSError`` if the server does not answer in ``wait`` seconds or Home Assistant refuses.
    """
    latest = time.monotonic() + wait
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            if time.monotonic() > latest:
                raise
            time.sleep(0.2)
    found = {"service": "wyoming", "config": {"uri": f"tcp://{host}:{port}"}}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{supervisor}/discovery", json.dumps(found).encode(), headers)
    urllib.request.urlopen(request, timeout=10).close()


def give_up_root(folder: Path) -> None:
    """Become ``USER``, who owns what the server writes."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    user = pwd.getpwnam(USER)
    # A voice is readable to its owner alone, and whoever copied it here was root.
    for own in (folder / name for name in ("heard", "kept", "known-voices")):
        own.mkdir(exist_ok=True)
        for path in (own, *own.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def main() -> None:
    options = json.loads(OPTIONS.read_text(encoding="utf-8"))
    # The server needs no right to talk to the Supervisor.
    token = os.environ.pop("SUPERVISOR_TOKEN", None)
    os.environ["WAKEWORD_HOME"] = str(FOLDER)
    give_up_root(FOLDER)
    if token is not None and os.fork() == 0:
        try:
            announce(SUPERVISOR, token, socket.gethostname(), PORT)
        except OSError as error:
            print(f"Home Assistant was not told of this server, add it by hand: {error}", file=sys.stderr, flush=True)
        os._exit(0)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "wakeword", "serve", *command(options, FOLDER)])


if __name__ == "__main__":
    main()
