"""What a detector needs of some seconds of sound to be judged again at any threshold: numbers, and no audio."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.types import Array, Scores
from wakeword.model.model import Model
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier import Look
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS

_VERSION = 1


@dataclass(frozen=True)
class Segment:
    """Consecutive windows of one keyword in one stream without a gap."""

    mark: str
    """``first_stage_id`` of the model."""
    piece: str
    """The same in all segments between two gaps of a stream."""
    first: int
    """Number of its first window in the stream."""
    window: int
    """Samples of a window, and from one to the next: ``step``."""
    step: int
    length: int | None
    """Samples of the stream, if it ended with this segment."""
    logits: Scores
    """What the first stage says of each window, ``(windows,)``."""
    clock: Scores
    """When each window was heard, in seconds of the system's clock, ``(windows,)``; kept to a tenth of a second."""
    looks: Mapping[int, Look]
    """What the second stage judges, by the number of the window in ``logits``."""

    @property
    def samples(self) -> int:
        """Samples that it adds to those before it; at the start of a stream, all of its first window."""
        end = self.covered(len(self.logits)) if self.length is None else self.length
        return end - self.covered(0)

    def covered(self, windows: int) -> int:
        """Samples of the stream up to the end of this number of windows."""
        before = self.first + windows
        return self.window + (before - 1) * self.step if before else 0


def first_stage_id(model: Model) -> str:
    """Sixteen hex digits of all that a head is judged on: models of one id differ in head, fusion and points alone."""
    card = model.card
    facts: list[object] = [_VERSION, card.self_test.logit, card.window]
    if (stage := card.verifier) is not None:
        facts += [stage.gate, stage.span, stage.embedding_digest, stage.phonemes_digest, stage.phonemes]
        facts += [stage.quick_digest, stage.quick_gate] if stage.quick_digest else []
        facts += [stage.near, stage.near_losses] if stage.near else []
        facts += [stage.phoneme_losses, [(one.kind, sorted(one.settings.items())) for one in stage.added]]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def arrays_of(segments: Sequence[Segment]) -> dict[str, Array]:
    """Segments of one model as the arrays of a file. The embeddings that neighbouring looks share are stored once."""
    looks = [look for one in segments for look in one.looks.values()]
    numbers: dict[bytes, int] = {}
    rows = [numbers.setdefault(row.tobytes(), len(numbers)) for look in looks for row in look.embeddings]
    about = [
        {
            **{name: getattr(one, name) for name in ("mark", "piece", "first", "window", "step", "length")},
            "begun": float(one.clock[0]),
            "windows": len(one.logits),
            "looks": len(one.looks),
        }
        for one in segments
    ]
    nothing = np.zeros(0)
    return {
        "about": np.array(json.dumps(about)),
        "logits": np.concatenate([nothing, *(one.logits for one in segments)]),
        "clock": np.concatenate([nothing, *(np.diff(_tenths(one.clock), prepend=0) for one in segments)]).astype(
            np.int16
        ),
        "at": np.array([number for one in segments for number in one.looks], np.int64),
        "best": np.array([look.best for look in looks], np.float64),
        "evidence": np.array([look.evidence for look in looks], np.float64),
        "rows": np.array(rows, np.int64).reshape(-1, HEAD_EMBEDDINGS),
        "embeddings": np.frombuffer(b"".join(numbers), np.float32).reshape(-1, DIMENSION),
    }


def _tenths(clock: Scores) -> Scores:
    """Tenths of a second since the first: steps of these take a bit each in a compressed file."""
    tenths: Scores = np.rint(10 * (clock - clock[0]))
    return tenths


def segments_of(arrays: Mapping[str, Any]) -> list[Segment]:
    """The segments of a file's arrays. Raises ``ValueError``, ``LookupError`` or ``TypeError`` for other contents."""
    about = json.loads(str(arrays["about"]))
    names = ("logits", "clock", "at", "best", "evidence", "rows", "embeddings")
    logits, clock, at, best, evidence, rows, embeddings = (np.asarray(arrays[name]) for name in names)
    looks = sum(one["looks"] for one in about)
    if not len(logits) == len(clock) == sum(one["windows"] for one in about) or embeddings.shape[1] != DIMENSION:
        raise ValueError(f"expected the numbers of {len(logits)} windows")
    if not len(at) == len(best) == len(evidence) == looks or rows.shape != (looks, HEAD_EMBEDDINGS):
        raise ValueError(f"expected {looks} looks, got {len(best)}")
    heard = embeddings[rows]
    found, window, look = [], 0, 0
    for one in about:
        windows, end = slice(window, window + one["windows"]), look + one["looks"]
        judged = {int(at[n]): Look(float(best[n]), heard[n], evidence[n].tolist()) for n in range(look, end)}
        facts = (one["mark"], one["piece"], one["first"], one["window"], one["step"], one["length"])
        times = float(one["begun"]) + 0.1 * np.cumsum(clock[windows])
        found.append(Segment(*facts, logits[windows], times, judged))
        window, look = windows.stop, end
    return found
