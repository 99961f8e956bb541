"""Prints what the parts of the installed Home Assistant that speak to us, and those they need, would install themselves."""

import json
from pathlib import Path

import homeassistant

PARTS = ("homeassistant", "wyoming", "assist_pipeline", "ffmpeg", "zeroconf")


def requirements() -> set[str]:
    """The requirements in the manifests."""
    folder = Path(homeassistant.__file__).parent / "components"
    seen: set[str] = set()
    todo, found = list(PARTS), set[str]()
    while todo:
        part = todo.pop()
        if part not in seen:
            seen.add(part)
            manifest = json.loads((folder / part / "manifest.json").read_text(encoding="utf-8"))
            found.update(manifest.get("requirements", ()))
            todo += [*manifest.get("dependencies", ()), *manifest.get("after_dependencies", ())]
    return found


if __name__ == "__main__":
    print("\n".join(sorted(requirements())))
