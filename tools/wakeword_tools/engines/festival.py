"""Festival, with the voices of humans that are installed on the system."""

import shutil

from wakeword.base.errors import SynthesisError
from wakeword.base.types import Array
from wakeword_tools.engines.programs import run_program, spoken_to_file
from wakeword_tools.engines.synthesizer import Engine, Prosody, require_plain_words
from wakeword_tools.engines.voice import Voice, split_of_source

FESTIVAL = "festival"

# Voice -> accent and speaker. kal and slt are also the speakers of flite's voices.
_VOICES = {
    "kal_diphone": ("en-US", "flite:kal16"),
    "ked_diphone": ("en-US", "festival:ked"),
    "us_slt_hts": ("en-US", "flite:slt"),
    "cmu_us_slt_arctic_hts": ("en-US", "flite:slt"),
}
# Hz, festival's defaults for its diphone voices.
_MEAN_PITCH, _PITCH_RANGE = 110, 14


def festival_voices() -> list[Voice]:
    """The voices of festival with known speakers."""
    return [
        Voice(f"{FESTIVAL}:{name}", FESTIVAL, accent, name, source, split_of_source(source), "MIT-Festival")
        for name, (accent, source) in _VOICES.items()
    ]


class FestivalSynthesizer:
    """The ``festival`` program, if it is installed. Takes no phonemes."""

    engine = FESTIVAL

    def __init__(self) -> None:
        program = shutil.which("festival")
        if program is None:
            raise SynthesisError(
                "expected the program festival, found none; on Debian or Ubuntu: apt install festival festvox-kallpc16k"
            )
        self._program = program

    def voices(self) -> list[Voice]:
        """The English voices that this festival lists."""
        listed = run_program([self._program, "-b", "(print (voice.list))"]).strip("() \n").split()
        return [voice for voice in festival_voices() if voice.variant in listed]

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``."""
        prosody = prosody or Prosody()
        require_plain_words(text, self.engine)
        if voice not in festival_voices():
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        mean, spread = _MEAN_PITCH * max(0.5, prosody.pitch), _PITCH_RANGE * prosody.pitch_range
        # Without end marks: the diphone voices hum in the pause after a question.
        phrase = text.replace("\\", " ").replace('"', " ").rstrip(" ?!.")
        program = (
            f"(voice_{voice.variant}) (Parameter.set 'Duration_Stretch {1 / prosody.rate:.4f}) "
            f"(set! int_lr_params '((target_f0_mean {mean:.2f}) (target_f0_std {spread:.2f}) "
            f'(model_f0_mean 170) (model_f0_std 34))) (set! spoken (utt.synth (Utterance Text "{phrase}")))'
        )
        return spoken_to_file(
            lambda path: run_program([self._program, "-b", f'(begin {program} (utt.save.wave spoken "{path}"))'])
        )


ENGINE = Engine(
    name=FESTIVAL,
    # Only installed voices.
    voices=lambda place, split: FestivalSynthesizer().voices(),
    synthesizer=FestivalSynthesizer,
    named_voices=festival_voices,
)
