"""Labels by a speech-to-text: what it is sent, what it may answer, and that nothing is lost when it does not."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.commands import Cli
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk
from wyoming.event import Event, read_event
from wyoming.info import AsrModel, AsrProgram, Attribution, Info

from wakeword import ConfigError, Detection
from wakeword.base.errors import WorkerError
from wakeword.base.types import Array
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, SavedPair, file_pair, saved_pairs
from wakeword_serve import labels
from wakeword_serve.labels import SAID_FROM, UNSAID_BELOW, Labeller, label_pair, probably
from wakeword_serve.speech_to_text import SpeechToText
from wakeword_serve.wire import encode

Answers = Callable[[int], bytes]
"""What a server answers to the audio of a connection, which has so many samples."""


def told(text: object) -> bytes:
    return encode(Event("transcript", {"text": text}))


def info(*, asr: bool = True) -> bytes:
    about = {"attribution": Attribution("tests", ""), "installed": True, "version": "1"}
    model = AsrModel(name="model", description="model", languages=["en"], **about)
    programs = [AsrProgram(name="listener", description="listener", models=[model], **about)]
    return encode(Info(asr=programs if asr else []).event())


class Listener:
    """A Wyoming server of speech-to-text in a thread: it answers as it is told, and keeps the audio that it gets."""

    def __init__(self) -> None:
        self.answers: Answers = lambda samples: told("turn on the lights")
        self.info = info()
        self.heard: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.uri = f"tcp://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        audio = b""
        connection.settimeout(5)
        with connection.makefile("rb") as file:
            while (event := read_event(file)) is not None:
                if event.type == "describe":
                    connection.sendall(self.info)
                elif event.type == "audio-chunk":
                    audio += AudioChunk.from_event(event).audio
                elif event.type == "audio-stop":
                    self.heard.append(audio)
                    connection.sendall(self.answers(len(audio) // 2))
                    return


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.socket.close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three events of a word that no model here has, long ago; the second one has no audio in it."""
    monkeypatch.setattr(labels, "_QUIET_SECONDS", 0.0)
    pairs = SavedPairs(tmp_path / "kept", 10**9)
    for number in range(3):
        audio = np.full(16_000, 0.1 * number, np.float32)
        pairs.save(Detection("hey you", 0.5, 1.0, 2.0, audio, about={"after": 0.5}), datetime.now(UTC))
    return tmp_path / "kept"


class Stage:
    """A second stage that hears the word as well as it is told."""

    def __init__(self, fit: float | None) -> None:
        self.fit = fit
        self.given: list[int] = []

    @property
    def phonemes(self) -> "Stage | None":
        return None if self.fit is None else self

    def evidence(self, samples: Array) -> float | None:
        self.given.append(len(samples))
        return self.fit


def content(pair: SavedPair) -> dict[str, object]:
    found: dict[str, object] = json.loads(pair.data.read_text())
    return found


@pytest.mark.parametrize(
    ("text", "fit", "label"),
    [
        ("", None, Answer.NO),
        (" ... ", -0.1, Answer.NO),
        ("what a marvellous day", None, None),
        ("what a marvellous day", UNSAID_BELOW - 0.1, Answer.NO),
        ("what a marvellous day", UNSAID_BELOW, None),
        # However the speech-to-text spells it.
        ("Travis, turn on the lights", SAID_FROM, Answer.YES),
        ("hey you", UNSAID_BELOW - 0.1, Answer.NO),
    ],
)
def test_the_phonemes_and_never_the_spelling_say_that_it_was_the_word(
    text: str, fit: float | None, label: Answer | None
) -> None:
    assert probably(text, fit) is label


def test_the_text_is_that_of_the_audio_of_the_event(listener: Listener, kept: Path) -> None:
    stage = Stage(-0.2)
    for pair in saved_pairs(kept):
        label_pair(pair, SpeechToText(listener.uri), lambda phrase: stage)  # type: ignore[arg-type, return-value]
    assert listener.heard == [
        np.full(16_000, np.rint(0.1 * number * 32_768)).astype("<i2").tobytes() for number in range(3)
    ]
    # Up to 0.3 s after the window, which ends 0.5 s before the end.
    assert stage.given == 3 * [16_000 - 3_200]
    found = [(pair.text, pair.probably, content(pair)["fit"]) for pair in saved_pairs(kept)]
    assert found == 3 * [("turn on the lights", Answer.YES, -0.2)]


BAD: dict[str, tuple[Answers, str]] = {
    "closed": (lambda samples: b"", "it closed the connection"),
    "another protocol": (
        lambda samples: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "expected the header of an event in JSON",
    ),
    "no text": (lambda samples: encode(Event("transcript", {})), "expected a transcript with text, got None"),
    "text that is a list": (lambda samples: told(["a"]), "expected a transcript with text, got"),
    "an error": (lambda samples: encode(Event("error", {"text": "no model"})), "it answered: no model"),
    "endless": (lambda samples: b"x" * 200_000, "header"),
    "a huge event": (lambda samples: b'{"type": "transcript", "payload_length": 99999999999}\n', "payload_length"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_answer_that_is_no_transcript_is_one_line(case: str, listener: Listener) -> None:
    listener.answers, said = BAD[case]
    with pytest.raises(WorkerError, match="expected a Wyoming speech-to-text at tcp://127") as caught:
        SpeechToText(listener.uri).text(np.zeros(1_000, np.float32))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_of_another_kind_gets_no_audio(listener: Listener) -> None:
    listener.info = info(asr=False)
    with pytest.raises(WorkerError, match="offers no speech-to-text"):
        SpeechToText(listener.uri).text(np.zeros(1_000, np.float32))
    assert listener.heard == []


def test_what_is_dead_or_slow_is_given_up_in_time(listener: Listener) -> None:
    listener.answers = lambda samples: time.sleep(1) or b""  # type: ignore[func-returns-value]
    started = time.monotonic()
    with pytest.raises(WorkerError, match="timed out"):
        SpeechToText(listener.uri, seconds=0.3).text(np.zeros(1_000, np.float32))
    assert time.monotonic() - started < 0.9
    listener.socket.close()
    with pytest.raises(WorkerError, match="refused"):
        SpeechToText(listener.uri).text(np.zeros(1_000, np.float32))
    with pytest.raises(WorkerError, match="could not use it"):
        SpeechToText("tcp://a..b:1").text(np.zeros(1_000, np.float32))


@pytest.mark.parametrize("uri", ["http://127.0.0.1:10300", "10300", "tcp://", "tcp://host:none", "stdio://", ""])
def test_an_address_that_cannot_be_read_is_refused_at_once(uri: str, cli: Cli, kept: Path) -> None:
    with pytest.raises(ConfigError, match="expected --label-with tcp://HOST:PORT"):
        SpeechToText(uri)
    ended = cli("review", kept, "--label-with", uri, "--list")
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "expected --label-with tcp://HOST:PORT" in ended.err


def test_serve_labels_only_what_it_keeps(cli: Cli) -> None:
    ended = cli("serve", "--label-with", "tcp://127.0.0.1:10300")
    assert ended.status == 2
    assert "--label-with needs --keep audio" in ended.err


def test_a_person_has_the_last_word(listener: Listener, kept: Path) -> None:
    first, second, _ = saved_pairs(kept)
    filed = file_pair(first, Answer.YES, kept)
    with labeller(kept, listener) as labels_them:
        assert [labels_them.label_one() for _ in range(3)] == [True, True, False]
    assert "text" not in content(filed)
    # What was labelled keeps its label, and its folder says what counts.
    listener.answers = lambda samples: told("")
    filed = file_pair(next(one for one in saved_pairs(kept) if one.data == second.data), Answer.NO, kept)
    assert content(filed)["text"] == "turn on the lights"
    assert content(filed)["reviewed"] == "no"


def labeller(kept: Path, listener: Listener, *, busy: bool = False) -> Labeller:
    return Labeller(kept, SpeechToText(listener.uri), lambda phrase: None, lambda: busy)


def test_nothing_is_labelled_while_somebody_may_speak_or_streams_wait(
    listener: Listener, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not labeller(kept, listener, busy=True).label_one()
    with monkeypatch.context() as patch:
        patch.setattr(labels, "_QUIET_SECONDS", 60.0)
        assert not labeller(kept, listener).label_one()
    assert listener.heard == []
    assert labeller(kept, listener).label_one()


def test_an_event_that_cannot_be_labelled_keeps_no_other_waiting(listener: Listener, kept: Path) -> None:
    some = labeller(kept, listener)
    listener.answers = lambda samples: b"" if listener.heard[-1][:2] == listener.heard[0][:2] else told("good morning")
    with pytest.raises(WorkerError):
        some.label_one()
    assert [some.label_one(), some.label_one()] == [True, True]
    saved_pairs(kept)[-1].audio.write_bytes(b"no audio")
    assert sum(one.text == "good morning" for one in saved_pairs(kept)) == 2


def test_a_recording_that_is_damaged_is_left_out(listener: Listener, kept: Path) -> None:
    for pair in saved_pairs(kept):
        pair.audio.write_bytes(b"no audio")
    some = labeller(kept, listener)
    assert [some.label_one() for _ in range(4)] == [True, True, True, False]
    assert listener.heard == []


def test_a_speech_to_text_that_comes_back_labels_all_with_two_lines_in_the_log(
    listener: Listener, kept: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(labels, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(labels, "_LONGEST_PAUSE", 0.02)
    caplog.set_level(logging.INFO, "wakeword.serve")
    listener.answers = lambda samples: b""
    with labeller(kept, listener):
        wait_for(lambda: len(listener.heard) > 5)
        listener.answers = lambda samples: encode(Transcript("good morning").event())
        wait_for(lambda: all(one.text for one in saved_pairs(kept)))
    assert [line.split(":")[0] for line in caplog.messages] == 2 * ["--label-with"]
    assert "it will be tried again" in caplog.messages[0]


def wait_for(condition: Callable[[], bool]) -> None:
    latest = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < latest
        time.sleep(0.01)


def test_a_review_labels_what_has_no_label_and_lists_what_was_probably_not_the_word_first(
    cli: Cli, listener: Listener, kept: Path
) -> None:
    texts = iter(["turn on the lights", "", "what a day"])
    listener.answers = lambda samples: told(next(texts))
    first = cli("review", kept, "--list", "--json", "--label-with", listener.uri)
    found = [json.loads(line) for line in first.out.splitlines()]
    assert [(one["probably"], one["text"]) for one in found] == [
        ("no", ""),
        (None, "turn on the lights"),
        (None, "what a day"),
    ]
    assert "labelled 3 of 3" in first.err
    again = cli("review", kept, "--list", "--label-with", listener.uri)
    assert len(listener.heard) == 3
    assert [line.split("  ")[1] for line in again.out.splitlines()] == ["probably not the word", "hey you", "hey you"]
    assert again.out.splitlines()[1].endswith('heard "turn on the lights"')


def test_a_review_stops_at_a_speech_to_text_that_is_away_and_keeps_what_it_has(
    cli: Cli, listener: Listener, kept: Path
) -> None:
    texts = iter([told("good morning")])
    listener.answers = lambda samples: next(texts, b"")
    ended = cli("review", kept, "--list", "--label-with", listener.uri)
    assert ended.status == 1
    assert "expected a Wyoming speech-to-text" in ended.err.splitlines()[-1]
    assert [one.text for one in saved_pairs(kept)] == ["good morning", None, None]
