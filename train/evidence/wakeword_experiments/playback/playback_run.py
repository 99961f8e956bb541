"""Recall, false accepts, own words, echo return loss and cost, with and without a reference, and beside libraries."""

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from wakeword import Detector
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword_echo.echo_canceller import ECHO_BLOCK, EchoCanceller
from wakeword_echo.own_word import PlayedSound
from wakeword_experiments.figures_report import Row, markdown_table, select, write_results
from wakeword_experiments.playback.playback_scenes import (
    ROOMS,
    Scene,
    playback_of,
    recordings,
    room_of,
    scene_of,
    with_own_words,
)

WORDS = ("alexa", "jarvis", "computer")
KINDS = {"music": "music", "read speech": "long_speech"}
LEVELS = (0, 5, 10, 15)
TIMES = (1, 3, 5, 10, 20, 60)
_BLOCK = 320
_TURNS = 5
Cancel = Callable[[Array, Array], Array]


def libraries() -> dict[str, Cancel]:
    """The echo cancellers of the package index that are installed here: microphone and reference -> the rest."""
    found: dict[str, Cancel] = {}
    try:
        webrtc = importlib.import_module("pywebrtc_audio")

        def by_webrtc(microphone: Array, reference: Array) -> Array:
            canceller = webrtc.EchoCanceller(SAMPLE_RATE, 1)
            return np.concatenate([canceller.process(*pair) for pair in _pairs(microphone, reference)])

        found["AEC3 of WebRTC (pywebrtc-audio 0.2.0)"] = by_webrtc
    except ImportError:
        pass
    try:
        speex = importlib.import_module("pyaec")

        def by_speex(microphone: Array, reference: Array) -> Array:
            canceller = speex.Aec(160, 4_096, SAMPLE_RATE, False)
            whole = [(32_767 * one.clip(-1, 1)).astype(np.int16) for one in (microphone, reference)]
            rest = np.concatenate([canceller.cancel_echo(*pair) for pair in _pairs(*whole)])
            return (rest / 32_768).astype(np.float32)

        found["Speex (pyaec 1.0.1), filter of 256 ms"] = by_speex
    except ImportError:
        pass
    return found


def _pairs(*signals: Any) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(signals[0]) // 160 * 160, 160):
        yield tuple(one[start : start + 160].copy() for one in signals)


def ends_of(detector: Detector, microphone: Array, reference: Array | None) -> list[float]:
    """When something is detected, in seconds."""
    detector.reset()
    found = []
    for start in range(0, len(microphone), SAMPLE_RATE):
        piece = slice(start, start + SAMPLE_RATE)
        found += detector.push(microphone[piece], None if reference is None else reference[piece])
    return [hit.end for hit in found + detector.flush()]


def run_playback(
    audio: Path, out: Path, *, count: int, minutes: float, command: str, report: Callable[[str], None]
) -> None:
    """Measure all; ``count`` recordings of each word, ``minutes`` of playback of each kind for false accepts."""
    started = time.process_time()
    rows: list[Row] = []
    detectors = {word: Detector(word) for word in WORDS}
    for number, (word, kind) in enumerate((word, kind) for word in WORDS for kind in KINDS):
        clips = recordings(audio / "wake_words" / word, count)
        reference = playback_of(audio / KINDS[kind], 7 * count + 15, first=3 * number)
        room = room_of(audio / "rooms", ROOMS[number % len(ROOMS)])
        for row in _scenes(detectors[word], clips, reference, room):
            rows.append({"word": word, "kind": kind, **row})
        report(f"{word}, {kind}: {time.process_time() - started:.0f} s")
    for number, word in enumerate(WORDS):
        rows += _own_words(word, detectors[word], audio, first=number)
    for kind in KINDS:
        reference = playback_of(audio / KINDS[kind], 60 * minutes, first=5)
        rows += _false_accepts(kind, reference, audio / "rooms")
        rows += _losses(kind, reference[: 70 * SAMPLE_RATE], room_of(audio / "rooms", ROOMS[0]))
    rows += _costs(scene_of(playback_of(audio / "music", 40, first=0), [], room_of(audio / "rooms", ROOMS[0]), below=0))
    write_results(
        out,
        "playback",
        title="A detector that knows what its loudspeaker plays",
        command=command,
        settings={"count": count, "minutes": minutes, "words": WORDS, "rooms": ROOMS, "level_db": -20, "noise_db": -70},
        rows=rows,
        body=_page(rows),
        seconds=time.process_time() - started,
    )


def _scenes(detector: Detector, clips: list[Array], reference: Array, room: Array) -> Iterator[Row]:
    def row(scene: Scene, method: str, found: list[float], **more: object) -> Row:
        hits, false = scene.found(found)
        return {"measure": "recall", "method": method, **more, "said": len(scene.words), "found": hits, "false": false}

    for below in LEVELS:
        scene = scene_of(reference, clips, room, below=below)
        yield row(scene, "none", ends_of(detector, scene.microphone, None), below=below)
        yield row(scene, "reference", ends_of(detector, scene.microphone, reference), below=below)
        if below == 10:
            for name, cancel in libraries().items():
                yield row(scene, name, ends_of(detector, cancel(scene.microphone, reference), None), below=below)
    for delay, drift in ((0.0, 0), (0.25, 50), (0.5, 0), (0.08, -50), (0.08, 200)):
        scene = scene_of(reference, clips, room, below=10, delay=delay, drift=drift)
        found = ends_of(detector, scene.microphone, reference)
        yield row(scene, "reference", found, below=10, delay_ms=round(1_000 * delay), drift_ppm=drift)


def _own_words(word: str, detector: Detector, audio: Path, *, first: int) -> list[Row]:
    clips = recordings(audio / "wake_words" / word, 40)
    reference = with_own_words(playback_of(audio / "long_speech", 412, first=first), clips)
    scene = scene_of(reference, [], room_of(audio / "rooms", ROOMS[first]), below=0)
    found = {
        "none": ends_of(detector, scene.microphone, None),
        "reference": ends_of(detector, scene.microphone, reference),
    }
    with patch.object(PlayedSound, "says", return_value=False):
        found["reference, no veto"] = ends_of(detector, scene.microphone, reference)
    said = len(range(8 * SAMPLE_RATE, len(reference) - 4 * SAMPLE_RATE, 10 * SAMPLE_RATE))
    return [
        {"measure": "own words", "word": word, "method": method, "said": said, "fired": len(ends)}
        for method, ends in found.items()
    ]


def _false_accepts(kind: str, reference: Array, rooms: Path) -> list[Row]:
    """In pieces of 5 minutes, each in the next room."""
    detector = Detector(list(WORDS))
    size = 300 * SAMPLE_RATE
    fired = {"none": 0, "reference": 0}
    for number, start in enumerate(range(0, len(reference), size)):
        played = reference[start : start + size]
        microphone = scene_of(played, [], room_of(rooms, ROOMS[number % len(ROOMS)]), below=0).microphone
        fired["none"] += len(ends_of(detector, microphone, None))
        fired["reference"] += len(ends_of(detector, microphone, played))
    hours = len(reference) / SAMPLE_RATE / 3_600
    return [
        {"measure": "false accepts", "kind": kind, "method": method, "hours": hours, "fired": count}
        for method, count in fired.items()
    ]


def _losses(kind: str, reference: Array, room: Array) -> list[Row]:
    """The echo that is left at some times, by the drift of the clocks."""
    rows: list[Row] = []
    for drift in (0, 50, 200):
        microphone = scene_of(reference, [], room, below=0, drift=drift).microphone
        canceller = EchoCanceller()
        padded = np.pad(reference, 8 * ECHO_BLOCK)
        rest = []
        for start in range(0, len(reference) - ECHO_BLOCK + 1, ECHO_BLOCK):
            first = start + 7 * ECHO_BLOCK - int(np.floor(canceller.shift))
            block = microphone[start : start + ECHO_BLOCK]
            rest.append(canceller.cancel(block, padded[first : first + 2 * ECHO_BLOCK], start // ECHO_BLOCK))
        left = np.concatenate(rest)
        for second in TIMES:
            part = slice(second * SAMPLE_RATE, (second + 2) * SAMPLE_RATE)
            loss = 10 * np.log10(np.sum(microphone[part] ** 2) / np.sum(left[part] ** 2))
            rows.append({"measure": "loss", "kind": kind, "drift_ppm": drift, "second": second, "db": float(loss)})
        rows.append(
            {"measure": "drift", "kind": kind, "drift_ppm": drift, "found_ppm": -1e6 * canceller.rate / ECHO_BLOCK}
        )
    return rows


def _costs(scene: Scene) -> list[Row]:
    """CPU milliseconds for a second, one word, blocks of 20 ms, in turns; the least of each counts."""
    detector = Detector("alexa")
    given: Mapping[str, Array | None] = {
        "none": None,
        "silent reference": np.zeros_like(scene.reference),
        "reference": scene.reference,
    }
    least = dict.fromkeys(given, np.inf)
    for _ in range(_TURNS):
        for method, reference in given.items():
            detector.reset()
            began = time.process_time()
            for start in range(0, len(scene.microphone), _BLOCK):
                piece = slice(start, start + _BLOCK)
                detector.push(scene.microphone[piece], None if reference is None else reference[piece])
            took = (time.process_time() - began) / len(scene.microphone) * SAMPLE_RATE * 1_000
            least[method] = min(least[method], took)
    return [{"measure": "cost", "method": method, "ms": ms} for method, ms in least.items()]


def _share(rows: list[Row]) -> str:
    said, found = sum(row["said"] for row in rows), sum(row["found"] for row in rows)
    return f"{100 * found / said:.0f} % ({found} of {said})" if said else "-"


def _page(rows: list[Row]) -> list[str]:
    plain = [row for row in select(rows, measure="recall") if "drift_ppm" not in row]
    moved = [row for row in select(rows, measure="recall") if "drift_ppm" in row]
    methods = list(dict.fromkeys(row["method"] for row in plain))
    recall = [
        [f"{kind}, {method}", *(_share(select(plain, kind=kind, method=method, below=below)) for below in LEVELS)]
        for kind in KINDS
        for method in methods
    ]
    places = list(dict.fromkeys((row["delay_ms"], row["drift_ppm"]) for row in moved))
    by_place = [
        [
            f"{delay} ms, {drift} ppm",
            *(_share(select(moved, kind=kind, delay_ms=delay, drift_ppm=drift)) for kind in KINDS),
        ]
        for delay, drift in places
    ]
    own = select(rows, measure="own words")
    own_lines = [
        [method, *(f"{row['fired']} of {row['said']}" for row in select(own, method=method))]
        for method in dict.fromkeys(row["method"] for row in own)
    ]
    false = [
        [row["kind"], row["method"], row["fired"], f"{row['hours']:.2f}"]
        for row in select(rows, measure="false accepts")
    ]
    loss = [
        [f"{kind}, {drift} ppm"]
        + [f"{row['db']:.0f}" for row in select(rows, measure="loss", kind=kind, drift_ppm=drift)]
        + [f"{row['found_ppm']:.0f}" for row in select(rows, measure="drift", kind=kind, drift_ppm=drift)]
        for kind in KINDS
        for drift in (0, 50, 200)
    ]
    costs = {row["method"]: row["ms"] for row in select(rows, measure="cost")}
    cost = [[method, f"{ms:.2f}", f"{ms / costs['none']:.2f}"] for method, ms in costs.items()]
    return [
        "People say alexa, jarvis and computer while a small loudspeaker plays in a room (80 ms late, 180 Hz to 7 kHz, "
        "softly clipped). The first word comes after 10 s of playback. `none` is the detector without a reference; the "
        "libraries stand before such a detector.",
        "Recall by how far the word is below the echo, dB:",
        markdown_table(["", *map(str, LEVELS)], recall),
        "10 dB below, by the echo's delay and the difference of the clocks:",
        markdown_table(["", *KINDS], by_place),
        "Own words: the playback says the word every 10 s, and the detector fires:",
        markdown_table(["", *WORDS], own_lines),
        "False accepts of the three words in playback without them:",
        markdown_table(["playback", "", "fired", "hours"], false),
        "Echo that is taken out, dB, by seconds of playback, and the difference of the clocks that was found, ppm:",
        markdown_table(["", *(f"{second} s" for second in TIMES), "found"], loss),
        "CPU milliseconds for a second of music, one word, blocks of 20 ms, and their ratio to no reference:",
        markdown_table(["", "ms", "ratio"], cost),
    ]
