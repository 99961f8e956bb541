"""Kept events on the live page: no name leads out of the folder, a label is what a review makes it, and who may hear it."""

import asyncio
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

pytest.importorskip("prometheus_client", reason="needs the packages of pip install '.[serve]'")

from support.served import BOTH, Served, int16
from support.served_web import get, run

from wakeword import Detection, Keeper
from wakeword.cli.options import PointOptions
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, SavedPair, file_pair, read_pair, saved_pairs
from wakeword_serve import event_list
from wakeword_serve.addresses import networks_of
from wakeword_serve.event_list import kept_list
from wakeword_serve.kept_pages import MAX_SHOWN, KeptPages
from wakeword_serve.status_pages import Web
from wakeword_serve.words import OfferedWords

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def kept(folder: Path, number: int = 4) -> Keeper:
    """A keeper of a folder with so many events, each a minute after the one before, every second one a near miss."""
    pairs = SavedPairs(folder, 10**9)
    for minute in range(number):
        about = {"threshold": 0.5, "client": "192.0.2.7"}
        audio = np.full(1_600, 0.001 * minute, np.float32)
        found = Detection("hey you", minute / 1_000, 1.0, 2.0, audio, about=about)
        pairs.save(found, NOON + timedelta(minutes=minute), near_miss=minute % 2 == 1)
    return Keeper(folder, most=10**6, days=10**6)


def pages_of(keeper: Keeper) -> KeptPages:
    return KeptPages(keeper, OfferedWords([], None, PointOptions()), None)


def told(pages: KeptPages, **what: str) -> tuple[int, Any]:
    status, kind, body = pages.label(what)
    return int(status), json.loads(body) if kind == "application/json" else body.decode()


def listed(pages: KeptPages) -> list[dict[str, Any]]:
    status, _, body = pages.answer("/events")
    assert status == 200
    found: list[dict[str, Any]] = json.loads(body)["events"]
    return found


def content(folder: Path) -> dict[str, bytes]:
    """Every file of events in a folder, but for the second in which it was reviewed.

    Not what a keeper writes of its own while the test runs: which days it has seen.
    """
    paths = [path for path in folder.rglob("*.*") if path.suffix and not path.name.startswith(".")]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return {
        name: b"\n".join(line for line in data.split(b"\n") if b'"reviewed_at"' not in line)
        for name, data in files.items()
    }


def test_each_of_ten_thousand_events_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (event,) = kept(tmp_path, 1).folder.glob("*.json")
    first = event.read_bytes()
    for number in range(10_000):
        other = event.with_name(event.name.replace("120000", f"{number:06}"))
        other.write_bytes(first)
        other.with_suffix(".wav").touch()
    read = []

    def noted(path: Path, answer: Answer | None) -> SavedPair | None:
        read.append(path)
        return read_pair(path, answer)

    monkeypatch.setattr(event_list, "read_pair", noted)
    listed = [event_list.kept_list(tmp_path) for _ in range(2)]
    assert len(listed[0]) == len(listed[1]) == len(read) >= 10_000


def test_what_has_a_label_hides_nothing_that_waits_for_one(tmp_path: Path) -> None:
    pages = pages_of(kept(tmp_path, MAX_SHOWN + 3))
    for event in listed(pages):
        assert told(pages, id=event["id"], label="no")[0] == 200
    waiting = [one["score"] for one in listed(pages) if one["label"] is None]
    assert waiting == [0.002, 0.001, 0.0]


def test_events_are_the_newest_first_bounded_and_each_is_what_was_kept(tmp_path: Path) -> None:
    pages = pages_of(kept(tmp_path, MAX_SHOWN + 3))
    events = listed(pages)
    assert [one["score"] for one in events] == [number / 1_000 for number in range(MAX_SHOWN + 2, 2, -1)]
    first = events[0]
    status, kind, audio = pages.answer(f"/events/{quote(first['id'])}.wav")
    assert (status, kind) == (200, "audio/wav")
    assert audio == (tmp_path / f"{first['id']}.wav").read_bytes()
    assert {name: first[name] for name in first if name not in ("id", "score")} == {
        "word": "hey you",
        "time": (NOON + timedelta(minutes=MAX_SHOWN + 2)).isoformat(timespec="milliseconds"),
        "threshold": 0.5,
        "near_miss": False,
        "client": "192.0.2.7",
        "label": None,
    }


@pytest.mark.parametrize(
    "name",
    ["../secret", "..%2fsecret", "%2e%2e/secret", "/etc/passwd", "yes/../../secret", "", ".", "\0", "hours", "%ff"],
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "kept"
    pages = pages_of(kept(folder))
    stem = saved_pairs(folder)[0].data.stem
    for secret in (tmp_path / "secret.wav", tmp_path / "secret.json"):
        secret.write_bytes(b"secret")
    # One whose name is that of an event, and another that is a link to it.
    shutil.copy(folder / f"{stem}.json", tmp_path / "a-20240501T120000.000000-0001.json")
    (folder / "b-20240501T120000.000000-0001.json").symlink_to(tmp_path / "a-20240501T120000.000000-0001.json")
    before = content(tmp_path)
    for one in (name, f"{name}/{stem}", "../a-20240501T120000.000000-0001", "b-20240501T120000.000000-0001"):
        assert pages.answer(f"/events/{one}.wav")[0] == 404
        for label in ("yes", "no", "back", "skip"):
            assert told(pages, id=one, label=label)[0] == 404
    assert content(tmp_path) == before


@pytest.mark.parametrize("labels", [("yes",), ("no",), ("yes", "no"), ("no", "no"), ("yes", "skip")])
def test_a_label_on_the_page_is_that_of_a_review_byte_for_byte(tmp_path: Path, labels: tuple[str, ...]) -> None:
    pages = pages_of(kept(tmp_path / "page"))
    # Not what the keeper writes of its own meanwhile, under a temporary name first.
    shutil.copytree(tmp_path / "page", tmp_path / "review", ignore=shutil.ignore_patterns(".*"))
    pair = saved_pairs(tmp_path / "review")[1]
    for label in labels:
        status, answer = told(pages, id=pair.data.stem, label=label)
        assert status == 200
        if label != "skip":
            pair = file_pair(pair, Answer(label), tmp_path / "review")
        assert answer["label"] == pair.data.parent.name
    assert content(tmp_path / "page") == content(tmp_path / "review")


@pytest.mark.parametrize("name", ["yes", "no", "kept"])
def test_the_name_of_the_kept_folder_itself_is_no_label(tmp_path: Path, name: str) -> None:
    pages = pages_of(kept(tmp_path / name))
    first, second, *rest = listed(pages)
    for one, label in ((first, "yes"), (second, "no")):
        assert told(pages, id=one["id"], label=label, was="")[1]["label"] == label
    assert {one["id"]: one["label"] for one in listed(pages) if one["label"]} == {
        first["id"]: "yes",
        second["id"]: "no",
    }
    labels = [one.is_word for one in kept_list(tmp_path / name).values()]
    assert sorted(labels, key=str) == [False, *[None] * len(rest), True]


def test_back_leaves_all_as_it_was(tmp_path: Path) -> None:
    pages = pages_of(kept(tmp_path))
    before = content(tmp_path)
    for one in listed(pages):
        assert told(pages, id=one["id"], label="yes", was="")[1]["label"] == "yes"
    assert set(content(tmp_path)) == {f"yes/{name}" for name in before}
    for one in listed(pages):
        assert told(pages, id=one["id"], label="back", was="yes")[1]["label"] is None
    assert content(tmp_path) == before


def test_of_two_people_the_second_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    tabs = [pages_of(kept(tmp_path)), pages_of(kept(tmp_path, 0))]
    (name, deleted, *_) = [one["id"] for one in listed(tabs[0])]
    stale = saved_pairs(tmp_path)[-1]
    assert listed(tabs[1])[0]["id"] == stale.data.stem == name
    assert told(tabs[0], id=name, label="yes", was="")[0] == 200
    assert told(tabs[1], id=name, label="no", was="")[0] == 409
    with pytest.raises(FileNotFoundError):  # a review, which has not looked since
        file_pair(stale, Answer.NO, tmp_path)
    filed = saved_pairs(tmp_path / "yes")[0]
    file_pair(filed, Answer.NO, tmp_path)
    with pytest.raises(FileNotFoundError):
        file_pair(filed, Answer.YES, tmp_path)
    (tmp_path / f"{deleted}.json").unlink()
    status, line = told(tabs[1], id=deleted, label="no")
    assert (status, line.count("\n")) == (404, 1)
    assert [one["label"] for one in listed(tabs[1])] == ["no", None, None]
    assert len(list(tmp_path.rglob("*.json"))) == 3


def test_what_is_kept_without_audio_or_is_damaged_is_not_listed_and_not_moved(tmp_path: Path) -> None:
    pages = pages_of(kept(tmp_path))
    first, second, third, whole = (one.data.stem for one in saved_pairs(tmp_path))
    (tmp_path / f"{first}.wav").rename(tmp_path / f"{first}.npz")
    (tmp_path / f"{second}.json").write_text("{")
    (tmp_path / f"{third}.json").write_text('{"keyword": "x", "time": "", "score": NaN}')
    before = content(tmp_path)
    assert [one["id"] for one in listed(pages)] == [whole]
    for name in (first, second, third):
        assert pages.answer(f"/events/{name}.wav")[0] == 404
        assert told(pages, id=name, label="no")[0] == 404
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    "what", [{}, {"id": "x"}, {"id": "x", "label": "maybe"}, {"id": "x", "label": "no", "to": "/"}]
)
def test_a_label_is_one_of_four(tmp_path: Path, what: dict[str, str]) -> None:
    assert told(pages_of(kept(tmp_path)), **what)[0] == 400


def test_what_a_server_hears_is_on_its_page_with_the_threshold_and_the_satellite(models: Path, tmp_path: Path) -> None:
    async def scenario(served: Served, web: Web) -> list[Any]:
        client = await served.client("127.0.0.9")
        await client.speak(int16(BOTH))
        while len(found := json.loads((await get(f"{web.url}events"))[1])["events"]) < 2:
            await asyncio.sleep(0.01)
        url = f"{web.url}label?id={quote(found[0]['id'])}&label=no"
        return [
            *found,
            await get(url, data=b"", headers={"Origin": "http://elsewhere.example"}),
            await get(url, data=b"", headers={"Origin": web.url.rstrip("/")}),
            *json.loads((await get(f"{web.url}events"))[1])["events"],
        ]

    with Keeper(tmp_path) as keeper:
        found = run(scenario, models / "low.onnx", models / "high.onnx", keep=keeper, keeper=keeper)
    newest, oldest, foreign, own, *after = found
    assert [one["word"] for one in (newest, oldest)] == ["hey high", "low"]
    assert {(one["client"], one["threshold"]) for one in (newest, oldest)} == {("127.0.0.9", 0.5)}
    assert (foreign[0], own[0]) == (421, 200)
    assert [one["label"] for one in after] == ["no", None]


@pytest.mark.parametrize(
    ("loopback", "settings", "headers", "heard"),
    [
        (True, {}, {}, True),
        (True, {}, {"X-Forwarded-For": "192.0.2.1"}, False),
        (True, {}, {"Forwarded": "for=192.0.2.1"}, False),
        (False, {}, {}, False),
        (False, {"networks": tuple(networks_of(["127.0.0.0/8"]))}, {}, True),
        (False, {"ingress": True}, {"X-Forwarded-For": "192.0.2.1"}, True),
    ],
)
def test_only_this_machine_or_whom_the_owner_named_hears_the_house(
    models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    loopback: bool,
    settings: dict[str, Any],
    headers: dict[str, str],
    heard: bool,
) -> None:
    keeper = kept(tmp_path)
    name = quote(saved_pairs(tmp_path)[0].data.stem)
    before = content(tmp_path)
    monkeypatch.setattr("wakeword_serve.status_pages.is_loopback", lambda address: loopback)

    async def scenario(served: Served, web: Web) -> list[tuple[int, str, Any]]:
        return [
            *[await get(web.url + path, headers=headers) for path in ("", "state", "events", f"events/{name}.wav")],
            await get(f"{web.url}label?id={name}&label=yes", headers=headers, data=b""),
        ]

    page, state, *private = run(scenario, models / "low.onnx", keeper=keeper, **settings)
    assert (page[0], state[0]) == (200, 200)
    assert [one[0] for one in private] == [200 if heard else 403] * 3
    assert heard or all("--http-allow" in one[1] for one in private)
    assert (content(tmp_path) == before) != heard


def test_without_keep_one_line_says_how(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> list[tuple[int, str, Any]]:
        return [
            await get(f"{web.url}events"),
            await get(f"{web.url}events/x.wav"),
            await get(f"{web.url}label?id=x&label=no", data=b""),
        ]

    for status, line, _ in run(scenario, models / "low.onnx"):
        assert status == 404
        assert line.count("\n") == 1
        assert "--keep audio" in line
