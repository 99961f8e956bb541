"""``/events`` and ``/label``: what the live page shows of kept events, what it plays, and what people answer."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import unquote

from wakeword.base.files import read_limited
from wakeword.saving.keeper import Keeper
from wakeword.saving.kept_events import KeptEvent
from wakeword.saving.sorting import Answer, file_pair, read_pair
from wakeword.serve.bounded_http import TEXT, HttpAnswer
from wakeword.serve.event_list import EventList, shown_event
from wakeword.serve.promises import promise_and_count
from wakeword.serve.words import OfferedWords

MOST_SHOWN = 200
"""Events in one answer, the newest."""
_MAX_AUDIO = 8_000_000
_LABELS = {Answer.YES.value: Answer.YES, Answer.NO.value: Answer.NO, "back": None, "skip": None}

NOT_HERE: HttpAnswer = (
    HTTPStatus.FORBIDDEN,
    TEXT,
    b"expected a client on this machine, as kept events are private; serve with --http-allow NETWORK for others\n",
)
_NOT_KEPT: HttpAnswer = (
    HTTPStatus.NOT_FOUND,
    TEXT,
    b"nothing is kept here: serve with --keep audio to hear and label what woke, or nearly woke, this house\n",
)
_EXPECTED: HttpAnswer = (HTTPStatus.BAD_REQUEST, TEXT, b"expected /label?id=ID&label=yes|no|skip|back[&was=yes|no|]\n")
_GONE: HttpAnswer = (
    HTTPStatus.NOT_FOUND,
    TEXT,
    b"expected a kept event, found it gone: it was deleted, or moved elsewhere\n",
)
_SILENT: HttpAnswer = (
    HTTPStatus.NOT_FOUND,
    TEXT,
    b"expected a recording, found features alone: serve with --keep audio to hear and label what comes\n",
)


class KeptPages:
    """The events of a keeper; ``None`` where nothing is kept. Called in threads of the HTTP server."""

    def __init__(self, keeper: Keeper | None, words: OfferedWords) -> None:
        self._keeper, self._words = keeper, words
        self._events = None if keeper is None else EventList(keeper.folder)

    def answer(self, path: str) -> HttpAnswer:
        """The answer to a request for ``/events`` or ``/events/ID.wav``."""
        if self._events is None or self._keeper is None:
            return _NOT_KEPT
        try:
            if path == "/events":
                events = list(self._events.all().values())
                promises = promise_and_count(self._words.by_name.values(), self._keeper.hours.totals(), events)
                return _json({"events": [shown_event(one) for one in events[:MOST_SHOWN]], "promises": promises})
            event = self._events.find(unquote(path.removeprefix("/events/")).removesuffix(".wav"))
            if event is None or not path.endswith(".wav"):
                return _GONE
            if not event.has_audio:
                return _SILENT
            return HTTPStatus.OK, "audio/wav", read_limited(event.data.with_suffix(".wav"), _MAX_AUDIO)
        except FileNotFoundError:
            return _GONE
        except (OSError, ValueError) as error:
            return _trouble(error)

    def label(self, told: Mapping[str, str]) -> HttpAnswer:
        """File an event as ``wakeword review`` does; ``back`` takes a label away. ``was``: what it must be labelled now."""
        if self._events is None:
            return _NOT_KEPT
        if not {"id", "label"} <= set(told) <= {"id", "label", "was"} or told["label"] not in _LABELS:
            return _EXPECTED
        try:
            event = self._events.find(told["id"])
            if event is None:
                return _GONE
            label = shown_event(event)["label"] or ""
            if told.get("was", label) != label:
                said = f"expected the label '{told['was']}', found '{label}': another person was faster; it stays\n"
                return HTTPStatus.CONFLICT, TEXT, said.encode()
            return _filed(self._events, event, told["label"])
        except FileNotFoundError:
            return _GONE
        except (OSError, ValueError) as error:
            return _trouble(error)


def _filed(events: EventList, event: KeptEvent, label: str) -> HttpAnswer:
    if label != "skip":
        pair = read_pair(event.data)
        if pair is None:
            return _SILENT if event.data.is_file() else _GONE
        file_pair(pair, _LABELS[label], events.folder)
    after = events.find(event.data.stem)
    return _GONE if after is None else _json(shown_event(after))


def _json(content: object) -> HttpAnswer:
    return HTTPStatus.OK, "application/json", json.dumps(content).encode()


def _trouble(error: OSError | ValueError) -> HttpAnswer:
    """A disk that is full or read-only: the event stays where it was."""
    said = (isinstance(error, OSError) and error.strerror) or str(error)
    return HTTPStatus.INTERNAL_SERVER_ERROR, TEXT, f"expected to use the kept events, could not: {said}\n".encode()
