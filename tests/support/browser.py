"""The browser's library, run in Node, and a browser for its pages."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import ROOT
from wakeword.base.types import Array
from wakeword.browser.page_server import RUNTIME as RUNTIME_PATH
from wakeword.browser.page_server import PageServer
from wakeword.browser.runtime import DIGESTS
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, QUICK_FILE

WEB = ROOT / "web"
RUNTIME = ROOT / RUNTIME_PATH
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_DRIVER = ROOT / "tests" / "web" / "browser.mjs"
_BRIDGE = ROOT / "tests" / "web" / "bridge.mjs"
_SECONDS = 280

Job = Mapping[str, Any]


def page_files() -> list[str]:
    """The paths of all that the page loads, from the root of the checkout: what ``web/files.json`` must list."""
    suffixes = {".html", ".js", ".css", ".svg", ".json", ".webmanifest"}
    own = [path for folder in ("demo", "src") for path in (WEB / folder).rglob("*") if path.suffix in suffixes]
    shared = [assets_folder() / "encoders" / name for name in (EMBEDDING_FILE, PHONEMES_FILE, QUICK_FILE)]
    others = [*shipped_models().values(), *shared, assets_folder() / "audio" / "sentences.flac"]
    found = [path.relative_to(ROOT).as_posix() for path in (*own, *others)]
    return sorted([*found, *(RUNTIME_PATH + name for name in DIGESTS)])


def missing_node() -> str | None:
    """Why the tests in Node cannot run, or ``None``."""
    if shutil.which("node") is None:
        return "needs Node 20 or newer"
    return None if (RUNTIME / "ort.wasm.min.mjs").is_file() else "needs web/node_modules: make web-deps"


needs_node = pytest.mark.skipif(missing_node() is not None, reason=missing_node() or "")


def missing_browser() -> str | None:
    """Why the tests in Chromium cannot run, or ``None``."""
    if missing_node() is not None:
        return missing_node()
    if not (WEB / "node_modules" / "playwright-core").is_dir():
        return "needs web/node_modules: make web-deps"
    return None if CHROMIUM else "needs Chromium"


needs_browser = pytest.mark.skipif(missing_browser() is not None, reason=missing_browser() or "")


@contextmanager
def serving(server: PageServer) -> Iterator[PageServer]:
    """The server, at work."""
    with server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class JobError(Exception):
    """A job that failed in Node: ``name: message`` of the error."""


def in_node(*jobs: Job) -> list[Any]:
    """The results of jobs for ``bridge.mjs``, in one process; that of a failed one is a ``JobError``."""
    done = subprocess.run(
        ["node", str(_BRIDGE)], input=json.dumps(jobs), capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return [
        JobError(f"{one['error']['name']}: {one['error']['message']}") if "error" in one else one.get("result")
        for one in json.loads(done.stdout)
    ]


def raw(samples: Array, path: Path) -> str:
    """``samples`` written as raw float32 for a job; the path."""
    np.asarray(samples, "<f4").tofile(path)
    return str(path)


def detect_job(
    models: Sequence[Path | str], audio: str, *, rate: int = 16_000, sizes: Sequence[int] = (1_280,), **options: Any
) -> Job:
    """A job that pushes ``audio`` in blocks of ``sizes`` in turn, and flushes."""
    return {
        "task": "detect",
        "models": [str(model) for model in models],
        "options": options,
        "audio": audio,
        "rate": rate,
        "sizes": list(sizes),
    }


def in_browser(job: Job) -> Any:
    """What a scenario of ``browser.mjs`` has seen."""
    done = subprocess.run(
        ["node", str(_DRIVER)],
        input=json.dumps({"chromium": CHROMIUM, **job}),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads(done.stdout)
