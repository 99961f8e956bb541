"""What a training run synthesises, and how its student is trained: the tables ``[synthesis]`` and ``[student]``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from wakeword_train.fields import MANY, CheckedSettings, Count, CountOrZero, LearningRate, Share, Within, check_fields


@dataclass(frozen=True)
class NaturalConfig(CheckedSettings):
    """Clips of voices that sound human, in addition to ``SynthesisConfig``, which gives the texts. Such engines
    are far slower, so they have separate numbers."""

    positives: CountOrZero = 0
    near_negatives: CountOrZero = 0
    negatives: CountOrZero = 0
    engines: tuple[str, ...] = ("kokoro",)
    """As in ``SynthesisConfig``. ``installed`` stands for all that are installed, which may be none."""


@dataclass(frozen=True)
class SynthesisConfig(CheckedSettings):
    """Clips of each kind to synthesise before training; 0 for none."""

    positives: CountOrZero = 0
    """The keyword."""
    near_negatives: CountOrZero = 0
    """Words that sound like the keyword."""
    near_negative_texts: str = ""
    """Name of a list in ``assets/phrases``, or a file (.txt) of one text a line; generated from the keyword if empty."""
    negatives: CountOrZero = 0
    """Other words and phrases of them, so that a synthetic voice alone is no sign of the keyword."""
    negative_texts: str = "words"
    """As ``near_negative_texts``."""
    engines: tuple[str, ...] = ("espeak-ng",)
    """Text-to-speech engines to use: ``espeak-ng``; ``kokoro``, installed; ``command:FILE.toml`` for anything else;
    ``installed`` for the fast ones of this machine."""
    also: tuple[str, ...] = ()
    """Other phrases that wake the model too, such as "ok marvin" with "hey marvin"."""
    say: tuple[str, ...] = ()
    """Ways to say the keyword as IPA, in place of how it is read. Only voices that take phonemes then speak it."""
    children: Share = 0.0
    """Share of the clips of the keyword with formants and pitch as high as of children."""
    check_voices: bool = True
    """Leave out voices if the phoneme network does not hear the keyword when they speak."""
    natural: NaturalConfig = field(default_factory=NaturalConfig)

    @classmethod
    def of_record(cls, training: Mapping[str, Any]) -> "SynthesisConfig":
        """What was spoken as the word, by the record of training on a card, which may hold anything."""
        try:
            plan = training["config"]["synthesis"]
            also, say = (tuple(text for text in plan.get(key, ()) if isinstance(text, str)) for key in ("also", "say"))
        except (KeyError, TypeError, AttributeError):
            return cls()
        return cls(also=also, say=say)


@dataclass(frozen=True)
class StudentConfig:
    """How the network for microWakeWord's engines is trained: the table ``[student]`` of a configuration."""

    natural: CountOrZero = 400
    """Clips of the word by natural voices, and a quarter as many of close words, that are synthesised for the student, and
    for heads that openWakeWord's engines run."""
    positives: Count = 5_000
    """Scenes of the word: each voice as often as the others, in other sound each time."""
    near_negatives: Count = 3_000
    negatives: Count = 2_000
    """Scenes of other words, one after the other."""
    noise: Count = 500
    held_out: Count = 400
    """Scenes of the word by voices that it does not know, to say what it finds."""
    steps: Count = 2_500
    """Of the first round of each part. Two more have a third each, half of the rate and a quarter of the searches."""
    batch_size: Annotated[int, Within(48, MANY)] = 128
    learning_rate: LearningRate = 3e-3
    mining_rounds: CountOrZero = 8
    """How often background, talk and noise are searched for what is mistaken for the word."""
    mined: Count = 2_000
    """Windows of the background that a search keeps."""
    validation_share: Annotated[float, Within(1e-6, 1 - 1e-6)] = 0.25
    """Share of the background's speakers that it is not trained on, to choose its cutoff."""
    least_recall: Annotated[float, Within(0.0, 0.999)] = 0.35
    """A student that finds less of the synthetic words held out, at its cutoff, is refused. A higher figure is no promise:
    where 60 and 70 % of these were found, some of them said by learners, 81 and 75 % of the people were at half a false
    accept an hour ("onword", "think engine")."""

    def __post_init__(self) -> None:
        check_fields(self, " of the student")
