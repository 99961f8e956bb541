"""Teaches heads for openWakeWord's engines, on what the network of phonemes hears in embeddings.

The model's own head is taught with a first stage and a recogniser. By what the network hears, which was taught by people,
synthetic voices teach a word that people are found by (``train/evidence/results/export-phonemes.md``).
"""

import base64
import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.types import Array
from wakeword.batch.jobs.work import Executor, Report
from wakeword.format.card import ModelCard
from wakeword.format.digest import checked_metadata
from wakeword.model.model import read_model
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, HEAD_KEY, Head
from wakeword_export.head.float_graph import HeadGraph
from wakeword_export.head.phoneme_graph import EmbeddedPhonemes, with_fit
from wakeword_export.head.taught_head import FIT_BESIDE, OWN_COUNTS, TaughtHeads, digest_beside, write_taught_heads
from wakeword_export.student.natural_clips import natural_clips
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import HEAD_FILE
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip
from wakeword_train.data.mining import one_thread
from wakeword_train.pack.starter import FRAMES_A_SECOND
from wakeword_train.pipeline import EMBEDDINGS
from wakeword_train.second_stage.build import SecondStageTraining
from wakeword_train.second_stage.heads.fit_heads import Background, HeadTraining, fit_head
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_constants, head_logits, points_of_logits
from wakeword_train.second_stage.looks.examples import Recordings
from wakeword_train.training import TrainingResult
from wakeword_train.training_run import DataFolders, Phase, TrainingEvents, TrainingRun

_THINNED = 0.4
"""The share of what is heard that a look lacks in training."""
_EVERY = 2
"""Embeddings from one look at the background to the next: a word is in many."""
_BATCH = 512


def head_teacher(config: TrainConfig) -> Callable[..., Sequence[str]]:
    """What teaches heads after the word's training, and gives lines for people. Raises ``ConfigError`` before any training
    for another language than English, as no other speech taught the network of phonemes, and without a second stage."""
    if not config.second_stage.enabled:
        raise ConfigError(
            "expected a second stage with --for openwakeword, whose head its engines run, got enabled = false"
        )
    if config.language != ENGLISH:
        raise ConfigError(
            f"expected an English word with --for openwakeword, whose phonemes its engines hear, got one of "
            f"{config.language!r}; leave --for out: `wakeword export` writes the head of the model"
        )

    def teach(
        result: TrainingResult, run: Path, *, executor: Callable[[float], Executor], events: TrainingEvents
    ) -> Sequence[str]:
        assert result.second_stage is not None
        clips = [*result.clips, *natural_clips(config, run, executor=executor, events=events)]
        teach_heads(config, clips, result.path, result.second_stage.fold_heads, run, events=events)
        return []

    return teach


def teach_heads(
    config: TrainConfig, clips: Sequence[Clip], model: Path, own: Sequence[bytes], run: Path, *, events: TrainingEvents
) -> TaughtHeads:
    """Teach heads and write them to ``run``; the looks at the training's background are in the cache next to it.

    ``clips``: of the word's training, and ``natural_clips``; ``model``: its file; ``own``: the head of each fold of its
    training. Labels alone teach them, whatever the method of the second stage. An hour of background takes 0.2 GB of
    memory, and 0.4 GB if it is recordings. The same for the same seed on one kind of machine.
    Raises ``DataError`` without positives, or where the background is too short to say how often the heads fire.
    """
    settings = dataclasses.replace(config.second_stage, method="bce", embedding_noise=0.0)
    config = dataclasses.replace(config, second_stage=settings)
    events.note(f"teaching heads {config.keyword!r} for openWakeWord's engines: some 3 minutes of a core")
    events.phase(Phase.ENGINES, 0.0)
    report = events.progress_of(Phase.ENGINES, 1 + settings.folds)
    of_run = TrainingRun(config, DataFolders(), run, run.parent / EMBEDDINGS, events=TrainingEvents(lambda line: None))
    with one_thread():
        stage, network = SecondStageTraining(of_run, model, clips), EmbeddedPhonemes.read()
        words = {
            name: dataclasses.replace(one, embeddings=_heard(network, one.embeddings))
            for name, one in stage.words().items()
        }
        recordings = stage.speech.with_packed(stage.maker.recordings())
        every = {id(one): one for one in (*recordings.clean, *recordings.varied)}
        heard = {number: _heard(network, _looks(one)) for number, one in every.items()}
        report(1.0, 0.0)
        background = Recordings(*([heard[id(one)] for one in part] for part in (recordings.clean, recordings.varied)))
        training = HeadTraining(
            words,
            HeardBackground(background, (), 0),
            settings,
            config.adversary,
            -math.inf,
            config.seed,
            width=network.layers[-1][0].shape[1],
            thinned=_THINNED,
        )
        heads = [_fitted(stage, training, fold, report) for fold in range(settings.folds)]
        folds, card = [stage.fold(clip) for clip in stage.speech.clips], read_model(model).card
        logits = _logits(heads, own, card, zip(recordings.clean, background.clean, folds, strict=True))
        hours = sum(map(len, background.clean)) * _EVERY * STEP_FRAMES / (3600 * FRAMES_A_SECOND)
        points = points_of_logits(logits, hours, hop=_EVERY * STEP_FRAMES)
    if points is None:
        raise DataError(f"expected background in which a head may fire, got {hours:.2f} h; add --background")
    metadata, _ = checked_metadata(model.read_bytes())
    digest = digest_beside(base64.b64decode(metadata[HEAD_KEY]), card)
    taught = TaughtHeads([head_constants(head) for head in heads], points._asdict(), digest)
    write_taught_heads(run / HEAD_FILE, taught)
    return taught


class HeardBackground(Background):
    """Whole looks at long recordings, as the network of phonemes hears them; each is drawn by its number."""

    def windows(self, used: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See ``Background``; what a first stage says does not count."""
        counts = torch.tensor([len(one) for one in self.recordings.clean], dtype=torch.int64) * used
        rows = torch.arange(len(counts)).repeat_interleave(counts)
        places = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
        return rows, places, torch.zeros(len(rows))

    def looks(self, rows: Tensor, places: Tensor, *, varied: bool) -> Tensor:
        """See ``Background``: ``(n, steps, width)``."""
        source = self.recordings.varied if varied else self.recordings.clean
        return torch.stack([source[row][at] for row, at in zip(rows.tolist(), places.tolist(), strict=True)])


def _looks(embeddings: Tensor) -> Tensor:
    """The looks of a recording ``(n, 96)`` that are heard: ``(looks, 16, 96)``."""
    if len(embeddings) < HEAD_EMBEDDINGS:
        return embeddings.new_zeros((0, HEAD_EMBEDDINGS, embeddings.shape[1]))
    return embeddings.unfold(0, HEAD_EMBEDDINGS, _EVERY).transpose(1, 2)


def _heard(network: EmbeddedPhonemes, looks: Tensor) -> Tensor:
    """``(looks, 16, 96)`` -> what the network hears in them, ``(looks, steps, width)`` half."""
    parts = [network.heard_looks(some.float().numpy()).astype(np.float16) for some in torch.split(looks, _BATCH)]
    return torch.from_numpy(np.concatenate(parts))


def _fitted(stage: SecondStageTraining, training: HeadTraining, fold: int, report: Report) -> HeadNetwork:
    """A head that does not hear the people of a fold."""
    heard = {name: stage.may_hear(name, fold, words.rows) for name, words in training.words.items()}
    own = dataclasses.replace(training, seed=training.seed + fold)
    advance = partial(report, 1 / training.settings.epochs, 0.0)
    network, _ = fit_head(own, heard, stage.is_heard(Kind.BACKGROUND, fold), advance=advance)
    return network


def _logits(
    heads: Sequence[HeadNetwork],
    own: Sequence[bytes],
    card: ModelCard,
    recordings: Iterable[tuple[Tensor, Tensor, int]],
) -> list[Array]:
    """What is exported says of recordings, by the heads of the folds that they are of.

    ``recordings``: embeddings, what is heard in their looks, and the fold of each.
    """
    graph, of_model = HeadGraph(), [Head(data) for data in own]
    nothing = graph.constant(np.zeros((1, 1), np.float32))
    counted = with_fit(graph, nothing, card, EmbeddedPhonemes.read(), counts=FIT_BESIDE)
    fit = (lambda look: 0.0) if counted == nothing else graph.runner(counted)
    streams = []
    for embeddings, heard, fold in recordings:
        looks = [np.ascontiguousarray(look) for look in _looks(embeddings).float().numpy()]
        beside: Array = np.array([OWN_COUNTS * of_model[fold](look) + fit(look) for look in looks], np.float32)
        if len(beside):
            streams.append(head_logits(heads[fold], heard).numpy() + beside)
    return streams
