"""Heads that are taught for openWakeWord: the files say what torch says, and each was taught without some people."""

import base64
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.progress import Shares
from support.small_world import clips_of_run, run_of_tones

from wakeword.base.errors import ConfigError, ModelError
from wakeword.batch.jobs.job_run import in_this_process
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_export.head.float_graph import HeadGraph
from wakeword_export.head.phoneme_graph import EmbeddedPhonemes, fit_of_word
from wakeword_export.head.taught_head import (
    FIT_BESIDE,
    OWN_COUNTS,
    TaughtHeads,
    digest_beside,
    logit_of_taught,
    read_taught_heads,
    write_taught_heads,
)
from wakeword_export.kept_networks import write_networks
from wakeword_export.student import head_teaching
from wakeword_export.student.head_teaching import HeardBackground, head_teacher, teach_heads
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import HEAD_FILE
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.packed import packed_clips
from wakeword_train.pack.starter import STARTER, pack_path, read_pack
from wakeword_train.recipe import default_recipe
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_constants, head_logits
from wakeword_train.second_stage.looks.examples import Recordings
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training_run import TrainingEvents

COMPUTER = shipped_models()["computer"]
CARD = read_model(COMPUTER).card
OWN = base64.b64decode(checked_metadata(COMPUTER.read_bytes())[0][HEAD_KEY])
LOOKS = np.random.default_rng(0).normal(0, 8, (12, 16, 96)).astype(np.float32)


def test_the_graph_says_what_the_network_and_torch_say() -> None:
    torch.manual_seed(0)
    network, card = EmbeddedPhonemes.read(), CARD
    heard = network.heard_looks(LOOKS)
    heads = [HeadNetwork(8, width=heard.shape[2]) for _ in range(2)]
    for head in heads:
        head.set_normalisation(torch.from_numpy(heard))
    graph = HeadGraph()
    run = graph.runner(logit_of_taught(graph, [head_constants(head) for head in heads], OWN, card))
    graph = HeadGraph()
    assert card.verifier is not None
    fit = fit_of_word(graph, network, card.verifier.phonemes, card.verifier.phoneme_losses)
    assert fit is not None
    fits, own = graph.runner(fit), Head(OWN)
    logits = sum(head_logits(head, torch.from_numpy(heard)).numpy() for head in heads) / 2
    beside = [OWN_COUNTS * own(look) + FIT_BESIDE * fits(look) for look in LOOKS]
    expected = [logit + more for logit, more in zip(logits, beside, strict=True)]
    assert [run(look) for look in LOOKS] == pytest.approx(expected, abs=1e-3)
    assert np.ptp(logits) > 0.01


def test_what_was_taught_is_read_again_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    heads = [head_constants(HeadNetwork(4, width=256)) for _ in range(2)]
    alone = {"hours": 2.0, "points": [[0.5, 3.0], [2.0, 2.0]]}
    digest = digest_beside(OWN, CARD)
    write_taught_heads(tmp_path / HEAD_FILE, TaughtHeads(heads, alone, digest))
    kept = read_taught_heads(tmp_path / HEAD_FILE)
    assert kept is not None
    assert (kept.alone, kept.digest) == (alone, digest)
    for own, other in zip(heads, kept.heads, strict=True):
        assert all(np.array_equal(own[name], other[name]) for name in other)
    assert read_taught_heads(tmp_path / "none.npz") is None
    data = (tmp_path / HEAD_FILE).read_bytes()
    write_networks(tmp_path / "none.npz", {"alone": alone, "digest": digest}, {})
    write_networks(tmp_path / "lacking.npz", {"alone": alone, "digest": digest}, {"0.head": np.zeros((4, 1))})
    (tmp_path / HEAD_FILE).write_bytes(data[:-400])
    for name in (HEAD_FILE, "none.npz", "lacking.npz"):
        with pytest.raises(ModelError, match="expected heads for openWakeWord"):
            read_taught_heads(tmp_path / name)


def test_heads_are_of_a_model_with_its_phonemes() -> None:
    assert CARD.verifier is not None
    fewer = dataclasses.replace(CARD, verifier=dataclasses.replace(CARD.verifier, phonemes=(), phoneme_losses=()))
    german = dataclasses.replace(CARD, training={**CARD.training, "language": "de"})
    assert len({digest_beside(OWN, card) for card in (CARD, fewer, german)} | {digest_beside(OWN[1:], CARD)}) == 4


def test_what_cannot_be_taught_is_refused_before_the_training() -> None:
    config = dataclasses.replace(default_recipe(), keyword="zorvella")
    with pytest.raises(ConfigError, match="leave --for out"):
        head_teacher(dataclasses.replace(config, language="de"))
    with pytest.raises(ConfigError, match="expected a second stage"):
        head_teacher(dataclasses.replace(config, second_stage=SecondStageConfig(enabled=False)))


def test_heads_hear_the_clips_of_the_training_and_those_by_natural_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, folds = list[Any](), [OWN]
    monkeypatch.setattr(head_teaching, "natural_clips", lambda config, run, **options: [f"natural, {run.name}"])
    monkeypatch.setattr(
        head_teaching, "teach_heads", lambda config, clips, model, own, run, **options: heard.append((clips, own))
    )
    result: Any = SimpleNamespace(clips=("first",), path=COMPUTER, second_stage=SimpleNamespace(fold_heads=folds))
    teach = head_teacher(dataclasses.replace(default_recipe(), keyword="zorvella"))
    assert not teach(result, tmp_path / "run", executor=in_this_process, events=TrainingEvents())
    assert heard == [(["first", "natural, run"], folds)]


def test_a_threshold_is_noted_by_heads_that_do_not_know_who_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant:
        """Says the same of every look."""

        def __init__(self, logit: float) -> None:
            self._logit = logit

        def __call__(self, looks: Any) -> float:
            return self._logit

    monkeypatch.setattr(head_teaching, "Head", Constant)
    monkeypatch.setattr(head_teaching, "head_logits", lambda head, looks: torch.full((len(looks),), head))
    embeddings, german = torch.from_numpy(LOOKS.reshape(-1, 96)), dataclasses.replace(CARD, training={"language": "de"})
    looks = len(range(0, len(embeddings) - 15, 2))
    recordings = [(embeddings, torch.zeros(looks, 1), fold) for fold in (1, 0, 1)]
    said = head_teaching._logits([100.0, 200.0], [2.0, 4.0], german, recordings)  # type: ignore[arg-type,list-item]
    assert [one.tolist() for one in said] == [[202.0] * looks, [101.0] * looks, [202.0] * looks]


def test_background_without_recordings_has_no_windows() -> None:
    rows, places, logits = HeardBackground(Recordings([], []), (), 0).windows(torch.zeros(0, dtype=torch.bool))
    assert [len(rows), len(places), len(logits)] == [0, 0, 0]


@pytest.mark.slow
def test_each_head_knows_the_people_of_the_other_folds_and_is_the_same_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of_tones(tmp_path)
    clips = [*clips_of_run(run), *packed_clips(read_pack(pack_path(STARTER)), ("updown",), validation=0.2)[::6]]
    small = SecondStageConfig(
        units=8, epochs=2, warmup_epochs=1, steps_per_epoch=2, batch_size=32, mined=20, looks=8, folds=2
    )
    config = dataclasses.replace(
        default_recipe(), keyword="updown", second_stage=small, augmentation=AugmentationConfig(household=0.0)
    )
    fit_head, known = head_teaching.fit_head, list[Any]()

    def fitted(training: Any, heard: Any, used: Any, **options: Any) -> Any:
        known.append((heard[Kind.POSITIVE.value], used))
        return fit_head(training, heard, used, **options)

    monkeypatch.setattr(head_teaching, "fit_head", fitted)
    events = Shares()
    first, again = (teach_heads(config, clips, COMPUTER, [OWN, OWN], run, events=events) for _ in range(2))
    assert events.done == pytest.approx(2 * [number / 6 for number in (0, 2, 3, 4, 5, 6)])
    used = [one for _, one in known[:2]]
    assert torch.equal(used[0], ~used[1])
    assert 0.2 < float(used[0].float().mean()) < 0.8
    assert all(heard.any() and not heard.all() for heard, _ in known)  # words held out are heard by neither
    kept = read_taught_heads(run / HEAD_FILE)
    assert kept is not None
    for one, other, own in zip(first.heads, again.heads, kept.heads, strict=True):
        assert all(
            np.array_equal(one[name], value) and np.array_equal(other[name], value) for name, value in own.items()
        )
    rates, logits = zip(*kept.alone["points"], strict=True)
    assert list(rates) == sorted(rates)
    assert list(logits) == sorted(logits, reverse=True)
    seconds = sum(clip.part[1] - clip.part[0] for clip in clips if clip.part is not None)
    assert kept.alone["hours"] == pytest.approx(seconds / 3600, rel=0.1)  # but for the ends of turns
