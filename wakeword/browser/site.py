"""The files of the page, under the paths that they have in a checkout: a static server at its root serves the same page."""

import json
from importlib.resources import files
from pathlib import Path

from wakeword.base.errors import ConfigError
from wakeword.browser.runtime import DIGESTS
from wakeword.model.installed import assets_folder

PAGE = "web/demo/"
_OF_WORKER = ("web/files.json", "web/sw.js")
"""The list itself, and the service worker that reads it."""
RUNTIME = "web/node_modules/onnxruntime-web/dist/"
"""Where npm installs ONNX Runtime in a checkout."""


def web_folder() -> Path:
    """The folder of the page and its library: inside the package, or next to it in a checkout."""
    installed = Path(str(files("wakeword"))) / "web"
    return installed if installed.is_dir() else installed.parent.parent / "web"


def listed_files() -> list[str]:
    """The paths of all files of the page: what a service worker keeps for use without a network."""
    try:
        listed: list[str] = json.loads((web_folder() / "files.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"expected the page's list of files, could not read it: {error}; install it again") from error
    return listed


def site_files(runtime: Path) -> dict[str, Path]:
    """The file behind each path, of the page, the models and ``runtime``, the folder of ONNX Runtime.

    Raises ``ConfigError`` if one of them is missing.
    """
    folders = {RUNTIME: runtime, "web/": web_folder(), "assets/": assets_folder()}
    found = {}
    for path in (*listed_files(), *_OF_WORKER):
        prefix = next(prefix for prefix in folders if path.startswith(prefix))
        found[path] = folders[prefix] / path.removeprefix(prefix)
    missing = [path for path, file in found.items() if not file.is_file()]
    if missing:
        raise ConfigError(f"expected {', '.join(missing)}, found nothing there; install wakeword again")
    if not {RUNTIME + name for name in DIGESTS} <= set(found):
        raise ConfigError("expected ONNX Runtime in the page's list of files; install wakeword again")
    return found
