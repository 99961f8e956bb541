"""Settings of a student's training."""

from dataclasses import dataclass

from wakeword_train.fields import MANY, RATES, check_fields


@dataclass(frozen=True)
class StudentConfig:
    """How the network for microWakeWord's engines is trained: the table ``[student]`` of a configuration."""

    natural: int = 400
    """Clips of the word by natural voices, and a quarter as many of close words, that are synthesised for the student."""
    positives: int = 5_000
    """Scenes of the word: each voice as often as the others, in other sound each time."""
    near_negatives: int = 3_000
    negatives: int = 2_000
    """Scenes of other words, one after the other."""
    noise: int = 500
    held_out: int = 400
    """Scenes of the word by voices that it does not know, to say what it finds."""
    steps: int = 4_500
    batch_size: int = 128
    learning_rate: float = 3e-3
    mining_rounds: int = 8
    """Rounds of searching background, talk and noise for what is mistaken for the word."""
    mined: int = 2_000
    """Windows of the background that a round keeps."""
    taught: float = 0.5
    """Weight of what the two stages say of a clip in its target; the rest is its label."""
    validation_share: float = 0.25
    """Share of the background's speakers that it is not trained on, to choose its cutoff."""
    least_recall: float = 0.45
    """A student that finds less of the synthetic words held out, at its cutoff, is refused. A higher figure is no promise:
    where 74, 66 and 69 % of these were found, 87, 64 and 31 % of the people were at half a false accept an hour ("alexa",
    "jarvis", "computer"); in trainings on shorter windows 56 and 34 %, and 75 and 34 % ("jarvis", "computer")."""

    def __post_init__(self) -> None:
        counted = ("positives", "near_negatives", "negatives", "noise", "held_out", "steps", "mined")
        check_fields(self, " of the student", **dict.fromkeys(counted, (1, MANY)))
        check_fields(
            self,
            " of the student",
            natural=(0, MANY),
            mining_rounds=(0, MANY),
            batch_size=(48, MANY),
            learning_rate=RATES["learning_rate"],
            taught=(0.0, 1.0),
            validation_share=(1e-6, 1 - 1e-6),
            least_recall=(0.0, 0.999),
        )
