"""``/events`` and ``/label``: what the live page shows of kept events, what it plays, and what people answer."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import unquote

from wakeword.base.errors import reason_of
from wakeword.base.files import read_limited
from wakeword.browser.bounded_http import TEXT, HttpAnswer
from wakeword.saving.keeper import Keeper
from wakeword.saving.sorting import Answer, file_pair, read_pair
from wakeword_serve.event_list import kept_list, shown_event
from wakeword_serve.hours import ListenedHours
from wakeword_serve.promises import promise_and_count
from wakeword_serve.words import OfferedWords

MAX_SHOWN = 200
"""Events in one answer, the newest."""
_MAX_AUDIO = 8_000_000
_LABELS = {Answer.YES.value: Answer.YES, Answer.NO.value: Answer.NO, "back": None, "skip": None}


def _line(status: HTTPStatus, text: str) -> HttpAnswer:
    return status, TEXT, f"{text}\n".encode()


NOT_HERE = _line(
    HTTPStatus.FORBIDDEN,
    "expected a client on this machine, as kept events are private; serve with --http-allow NETWORK for others",
)
_NOT_KEPT = _line(
    HTTPStatus.NOT_FOUND,
    "nothing is kept here: serve with --keep audio to hear and label what woke, or nearly woke, this house",
)
_EXPECTED = _line(HTTPStatus.BAD_REQUEST, "expected /label?id=ID&label=yes|no|skip|back[&was=yes|no|]")
_GONE = _line(HTTPStatus.NOT_FOUND, "expected a kept event, found it gone: it was deleted, or moved elsewhere")


class KeptPages:
    """The events of a keeper; ``None`` where nothing is kept. Called in threads of the HTTP server.

    The ID of a request is compared with the names of the kept events, and never becomes a part of a path.
    """

    def __init__(self, keeper: Keeper | None, words: OfferedWords, hours: ListenedHours | None) -> None:
        self._keeper, self._words, self._hours = keeper, words, hours

    def answer(self, path: str) -> HttpAnswer:
        """The answer to a request for ``/events`` or ``/events/ID.wav``."""
        return self._answered(lambda keeper: self._listed(keeper) if path == "/events" else _recording(keeper, path))

    def label(self, fields: Mapping[str, str]) -> HttpAnswer:
        """File an event as ``wakeword review`` does; ``back`` takes a label away. ``was``: what it must be labelled now."""
        return self._answered(lambda keeper: _labelled(keeper, fields))

    def _answered(self, work: Callable[[Keeper], HttpAnswer]) -> HttpAnswer:
        try:
            return _NOT_KEPT if self._keeper is None else work(self._keeper)
        except FileNotFoundError:
            return _GONE
        except (OSError, ValueError) as error:  # a disk that is full or read-only: the event stays where it was
            return _line(HTTPStatus.INTERNAL_SERVER_ERROR, f"could not use the kept events: {reason_of(error)}")

    def _listed(self, keeper: Keeper) -> HttpAnswer:
        events = list(kept_list(keeper.folder).values())
        heard = {} if self._hours is None else self._hours.totals()
        promises = promise_and_count(self._words.by_name.values(), heard, events)
        # What waits for a label first: what has one must not hide it.
        chosen = sorted(events, key=lambda event: event.is_word is not None)[:MAX_SHOWN]
        names = {event.data.stem for event in chosen}
        shown = [shown_event(event) for event in events if event.data.stem in names]
        return _json({"events": shown, "promises": promises})


def _recording(keeper: Keeper, path: str) -> HttpAnswer:
    event = kept_list(keeper.folder).get(unquote(path.removeprefix("/events/")).removesuffix(".wav"))
    if event is None or not path.endswith(".wav"):
        return _GONE
    return HTTPStatus.OK, "audio/wav", read_limited(event.data.with_suffix(".wav"), _MAX_AUDIO)


def _labelled(keeper: Keeper, fields: Mapping[str, str]) -> HttpAnswer:
    if not {"id", "label"} <= set(fields) <= {"id", "label", "was"} or fields["label"] not in _LABELS:
        return _EXPECTED
    event = kept_list(keeper.folder).get(fields["id"])
    if event is None:
        return _GONE
    label = shown_event(event)["label"] or ""
    if fields.get("was", label) != label:
        text = f"expected the label '{fields['was']}', found '{label}': another person was faster; it stays"
        return _line(HTTPStatus.CONFLICT, text)
    if fields["label"] != "skip":
        pair = read_pair(event.data)
        if pair is None:
            return _GONE
        file_pair(pair, _LABELS[fields["label"]], keeper.folder)
    after = kept_list(keeper.folder).get(fields["id"])
    return _GONE if after is None else _json(shown_event(after))


def _json(content: object) -> HttpAnswer:
    return HTTPStatus.OK, "application/json", json.dumps(content).encode()
