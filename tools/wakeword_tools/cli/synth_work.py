"""The work of ``wakeword synth``: texts and voices to a folder of clips, or a list of the texts."""

from collections.abc import Sequence
from pathlib import Path

from wakeword.base.errors import ConfigError, DataError, SynthesisError
from wakeword.base.files import require_absent
from wakeword.base.text import counted
from wakeword.batch.jobs.work import cores
from wakeword.cli.console import note
from wakeword.cli.job_options import how_to_go_on
from wakeword.cli.steps import steps_shown
from wakeword_tools.cli.synth_options import SynthOptions
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.languages import require_unicode
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import Candidate, choose_texts, speakable
from wakeword_tools.texts.confusables import confusables, listed
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.splits import read_texts

_MAX_PAUSE = 0.3
"""Longest pause before and after the speech of a clip, in seconds."""
_CLIPS_WORTH_A_PROCESS = 500


def synthesise_set(options: SynthOptions) -> None:
    """Speak the keyword, or near negatives of it, and print the new folder; or only print the texts.

    Raises ``typer.BadParameter`` and ``ConfigError`` for options that exclude each other and a folder that exists,
    ``DataError`` and ``SynthesisError`` for texts that cannot be used or spoken, before anything is written.
    """
    keyword, split, engines = options.keyword, options.voices, options.engine or [ESPEAK]
    require_unicode(keyword)
    if not keyword.strip():
        raise ConfigError("expected a keyword, got an empty one; write the word as it is spoken")
    out = None if options.list_texts else options.out
    if out is not None:
        require_absent(out)
    voices = english_voices(split, engines=engines)
    if not voices:
        raise SynthesisError(f"expected a voice of {split}, but {', '.join(engines)} has none; add --engine")
    if not options.engine:
        # The embedded engine makes some sound for any text; other engines may speak another language.
        pronunciations(keyword)
    distances = {keyword: 0.0}
    if options.near_negatives:
        chosen = _near_negatives(options, voices)
        distances = {near.text: near.distance for near in chosen}
        if out is None:
            for near in chosen:
                print(f"{near.text:<28} # {near.distance:.2f}  {near.origin:<11} {' '.join(near.phones)}")
    elif out is None:
        print(keyword)
    if out is not None:
        part = ClipPart(list(distances), voices, options.count, options.seed, _MAX_PAUSE, distances=distances)
        jobs = options.jobs or min(cores(), 1 + options.count // _CLIPS_WORTH_A_PROCESS)
        with steps_shown(f"speak {counted(options.count, 'clip')}") as steps, how_to_go_on(lambda: steps.done > 0):
            folder = synthesize([part], out, jobs=jobs, resume=options.resume, skip=True, events=steps)
        print(folder)


def _near_negatives(options: SynthOptions, voices: Sequence[Voice]) -> list[Candidate]:
    """The texts that sound like the keyword, of the same split as the voices."""
    keyword = options.keyword
    if options.texts is not None:
        return _own(keyword, options.texts, options.voices, any_split=options.any_side)
    note(f"looking for texts that sound like {keyword!r}")
    return choose_texts(speakable(confusables(keyword), voices), options.distinct, split=options.voices)


def _own(keyword: str, path: Path, split: Split, *, any_split: bool) -> list[Candidate]:
    """The user's texts: a text of the training split never goes into the test split, or the reverse."""
    texts = listed(keyword, read_texts(path))
    others = [] if any_split else [text for text in texts if text.split != split]
    if others:
        some = ", ".join(f"{text.text!r} ({text.split})" for text in others[:5])
        raise DataError(
            f"{path}: {len(others)} of {len(texts)} texts are not for {split}: {some}; take them out, or "
            "speak them with --any-side if no other set will use them"
        )
    return texts
