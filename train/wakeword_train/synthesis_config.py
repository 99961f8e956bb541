"""What a training run synthesises: the settings of the table ``[synthesis]``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wakeword_train.fields import MANY, check_fields

_COUNTS = {"positives": (0, MANY), "near_negatives": (0, MANY), "negatives": (0, MANY)}


@dataclass(frozen=True)
class NaturalConfig:
    """Clips of voices that sound human, in addition to ``SynthesisConfig``, which gives the texts. Such engines
    are far slower, so they have separate numbers."""

    positives: int = 0
    near_negatives: int = 0
    negatives: int = 0
    engines: tuple[str, ...] = ("kokoro",)
    """As in ``SynthesisConfig``; ``kokoro`` is the folder in the environment variable ``WAKEWORD_KOKORO``, or what
    ``wakeword voices install kokoro`` installed. ``installed`` stands for all that are installed, which may be none."""

    def __post_init__(self) -> None:
        check_fields(self, **_COUNTS)


@dataclass(frozen=True)
class SynthesisConfig:
    """Clips of each kind to synthesise before training; 0 for none."""

    positives: int = 0
    """The keyword."""
    near_negatives: int = 0
    """Words that sound like the keyword."""
    near_negative_texts: str = ""
    """Name of a list in ``assets/phrases``, or a file (.txt) of one text a line; generated from the keyword if empty."""
    negatives: int = 0
    """Other words and phrases of them, so that a synthetic voice alone is no sign of the keyword."""
    negative_texts: str = "words"
    """As ``near_negative_texts``."""
    engines: tuple[str, ...] = ("espeak-ng",)
    """Text-to-speech engines to use: ``espeak-ng``; ``piper:FOLDER`` of voices; ``kokoro:FOLDER``;
    ``command:FILE.toml`` for anything else; ``installed`` for the fast ones of this machine."""
    also: tuple[str, ...] = ()
    """Other phrases that wake the model too, such as "ok marvin" with "hey marvin"."""
    say: tuple[str, ...] = ()
    """Ways to say the keyword as IPA, in place of how it is read. Only voices that take phonemes then speak it."""
    children: float = 0.0
    """Share of the clips of the keyword with formants and pitch as high as of children."""
    check_voices: bool = True
    """Leave out voices if the phoneme network does not hear the keyword when they speak."""
    natural: NaturalConfig = field(default_factory=NaturalConfig)

    def __post_init__(self) -> None:
        check_fields(self, **_COUNTS, children=(0.0, 1.0))

    @classmethod
    def of_record(cls, training: Mapping[str, Any]) -> "SynthesisConfig":
        """What was spoken as the word, by the record of training on a card, which may hold anything."""
        config = training.get("config")
        plan = config.get("synthesis") if isinstance(config, dict) else None
        lists = [plan.get(key) if isinstance(plan, dict) else None for key in ("also", "say")]
        also, say = ([one for one in some if isinstance(one, str)] if isinstance(some, list) else () for some in lists)
        return cls(also=tuple(also), say=tuple(say))
