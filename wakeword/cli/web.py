"""``wakeword web``."""

from pathlib import Path
from typing import Annotated

from wakeword.browser.page_server import PAGE, RUNTIME, PageServer, site_files, web_folder
from wakeword.browser.runtime import RUNTIME_VERSION, cache_folder, fetch_runtime, problem_of, require_runtime
from wakeword.cli.console import note
from wakeword.cli.ranges import number_option, option


def web(
    port: Annotated[int, number_option("--port", "N", 0, 65_535, "0: any that is free.")] = 8765,
    runtime: Annotated[
        Path | None,
        option("--runtime", f"The files of onnxruntime-web {RUNTIME_VERSION}. Default: got once from npm.", "FOLDER"),
    ] = None,
) -> None:
    """Serve the page that listens in a browser of this machine.

    The page and everything that it needs come from this machine, and its audio goes nowhere. Ctrl-C ends it.
    """
    with PageServer(site_files(_runtime(runtime)), home=PAGE, port=port) as server:
        print(f"{server.url}  (Ctrl-C ends it)", flush=True)
        server.serve_forever()


def _runtime(given: Path | None) -> Path:
    """The folder of ONNX Runtime: the given one, the one of a checkout, or the user's own, which is filled if need be."""
    if given is not None:
        return require_runtime(given)
    installed = web_folder().parent / RUNTIME
    if problem_of(installed) is None:
        return installed
    kept = cache_folder()
    if problem_of(kept) is not None:
        note(f"getting ONNX Runtime for the web from npm (up to 33 MB, once; kept in {kept})")
        fetch_runtime(kept)
    return kept
