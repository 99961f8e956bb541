"""The card inside a model file: what the model listens for, on which features, how well, and where it comes from."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.checks import number
from wakeword.base.errors import ConfigError, ModelError, reason_of
from wakeword.base.text import shortened
from wakeword.base.types import Array
from wakeword.format.card_checks import MAX_LOGIT, require_entries, require_name
from wakeword.format.operating_point import OperatingPoint, require_points
from wakeword.format.verifier_card import VerifierCard, require_above_floor

SCHEMA = 4
"""Version of the layout of a file with a card, and with a digest (``format.digest``)."""
_LATER = "near", "near_losses", "opinion_digest", "phoneme_losses", "phoneme_step", "quick_digest", "quick_gate"
"""Entries of a second stage that cards without them do not hold."""
_MAX_CARD_BYTES = 2**20
"""Largest size of the card as JSON; the included models have 12 kB."""

DEFAULT_HOP = 16
"""Frames between the starts of two windows: 160 ms. At 80 ms people are found as often, for twice the network's work."""

METADATA_KEY = "wakeword.card"
"""Key of the card (JSON) in the metadata of the ONNX file."""
MAX_WINDOW = 1_000
"""Frames: ten seconds. Memory grows with the window, and a file must not decide how much memory is used."""


@dataclass(frozen=True)
class SelfTest:
    """The logit that the model must give for the window of ``self_test_signal``."""

    logit: float


@dataclass(frozen=True)
class ModelCard:
    """Everything that a model file says about itself. Serialised as JSON in the metadata of the ONNX file."""

    phrase: str
    """The wake word, as it is spoken."""
    version: str
    """Version of this model, not of the software."""
    window: int
    """Frames in one window."""
    self_test: SelfTest
    stack: int = 1
    """Frames that the network takes at a time: windows and hops must be multiples of this number."""
    features: FeatureConfig = field(default_factory=FeatureConfig)
    operating_points: tuple[OperatingPoint, ...] = ()
    default_point: str | None = None
    """Name of the operating point to use when none is chosen."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Provenance: method, seed, data fingerprints, package versions, date."""
    licence: str = "unknown"
    verifier: VerifierCard | None = None
    """The second stage, if there is one: ``operating_points`` are then of the fused score."""

    MEASURED_WITH: ClassVar = "measured_with_recogniser"
    """Entry of ``training``: the digest of an earlier phoneme recogniser, with which the points were measured."""

    @property
    def edition(self) -> str:
        """The version, and the licence if it is known: a user's own model has none."""
        return self.version if self.licence == ModelCard.licence else f"{self.version}, licence {self.licence}"

    def __post_init__(self) -> None:
        if not isinstance(self.phrase, str) or not self.phrase.strip():
            raise ConfigError(f"expected a phrase of one or more words, got {shortened(repr(self.phrase))}")
        for what in ("phrase", "version", "licence"):
            require_name(what, getattr(self, what))
        require_points(self.operating_points, self.default_point)
        number(self.self_test.logit, "the logit of the self-test", -MAX_LOGIT, MAX_LOGIT)
        if self.stack < 1 or not 1 <= self.window <= MAX_WINDOW or self.window % self.stack:
            raise ConfigError(
                f"expected a window of 1 to {MAX_WINDOW} frames, a multiple of stack={self.stack}, got {self.window}"
            )
        if self.verifier is not None:
            for point in self.operating_points:
                require_above_floor(point.threshold, self.phrase)

    @property
    def language(self) -> str:
        """Code of the wake word's language; ``en`` where the record of training names none."""
        stated = self.training.get("language", "en")
        return stated if isinstance(stated, str) else "en"

    @property
    def hours_by_language(self) -> dict[str, float]:
        """Hours of background that training heard: language -> hours, ``own`` for the user's; empty if not known."""
        stated = self.training.get("background_hours", {})
        pairs = stated.items() if isinstance(stated, Mapping) else ()
        return {str(name): float(hours) for name, hours in pairs if isinstance(hours, int | float)}

    def of_stage_one(self) -> "ModelCard":
        """The card of the first stage alone, at its own points."""
        if self.verifier is None:
            return self
        points, default = self.verifier.stage_one_points, self.verifier.stage_one_default
        return dataclasses.replace(self, operating_points=points, default_point=default, verifier=None)

    def point(self, name: str | None = None) -> OperatingPoint:
        """The operating point of that name, or the default one. ``ConfigError`` if there is none."""
        wanted = name or self.default_point
        for point in self.operating_points:
            if point.name == wanted:
                return point
        known = ", ".join(point.name for point in self.operating_points) or "none; calibrate it or give a threshold"
        what = "default operating point" if wanted is None else f"operating point {shortened(repr(wanted))}"
        raise ConfigError(f"model '{self.phrase}' has no {what}; it has: {known}")

    def to_json(self) -> str:
        """The card as JSON text."""
        content = {**dataclasses.asdict(self), "schema": SCHEMA, "features_fingerprint": self.features.fingerprint}
        # Cards of before an entry existed are written as they are.
        points = content["operating_points"]
        if self.verifier is not None:
            points += content["verifier"]["stage_one_points"]
            entries = content["verifier"].items()
            content["verifier"] = {key: part for key, part in entries if part or key not in _LATER}
        for point in points:
            if point["by_folds"] is None:
                del point["by_folds"]
        return json.dumps(content, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "ModelCard":
        """Read what ``to_json`` wrote. ``ModelError`` on another schema and on anything malformed."""
        try:
            if len(text) > _MAX_CARD_BYTES:
                raise ModelError(f"expected a model card of at most {_MAX_CARD_BYTES} bytes, got {len(text)}")
            raw = json.loads(text)
            schema = raw.pop("schema")
            if schema != SCHEMA:
                raise ModelError(
                    f"expected a model card of schema {SCHEMA}, got {shortened(repr(schema))}; "
                    "update wakeword or train the model again"
                )
            fingerprint = raw.pop("features_fingerprint")
            card: ModelCard = _read(cls, raw)
            require_entries("training", card.training)
            # Refuses NaN and infinity in any field.
            card.to_json()
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise ModelError(
                f"expected a model card as wakeword writes it, got a malformed one ({shortened(reason_of(error), 200)}); "
                "get the file again, or update wakeword"
            ) from error
        if fingerprint != card.features.fingerprint:
            raise ModelError("the model card's features do not match their own fingerprint; the file is damaged")
        return card


def _read(kind: object, value: object) -> Any:
    """A value from JSON as the type of a field, dataclasses and tuples included. ``TypeError`` if it has another type."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, dict):
        types = get_type_hints(kind)
        if unknown := value.keys() - types.keys():
            raise TypeError(f"entries of a later version of wakeword: {', '.join(sorted(unknown))}")
        return kind(**{name: _read(types[name], part) for name, part in value.items()})
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_read(get_args(kind)[0], part) for part in value)
    if get_origin(kind) is Mapping and isinstance(value, dict):
        return value
    if isinstance(kind, UnionType):
        return None if value is None else _read(get_args(kind)[0], value)
    if kind is float and type(value) is int:
        return float(value)
    if kind not in (int, float, str) or type(value) is not kind:
        raise TypeError(f"expected {getattr(kind, '__name__', kind)}, got {shortened(value)}")
    return value


def self_test_signal(samples: int, sample_rate: int = SAMPLE_RATE) -> Array:
    """A rising harmonic sweep with a 5 Hz syllable rhythm and a little noise, ``(samples,)`` float32.

    In closed form, noise included, so that it does not depend on the version of a random generator.
    """
    t = np.arange(samples) / sample_rate
    phase = 2 * np.pi * (120 * t + 90 * t**2)
    voice = sum(np.sin(k * phase) / k for k in range(1, 12))
    noise = np.modf(np.sin(np.arange(samples) * 12.9898) * 43_758.5453)[0]
    signal = 0.1 * voice * (0.55 - 0.45 * np.cos(2 * np.pi * 5 * t)) + 0.003 * noise
    return np.asarray(signal, np.float32)
