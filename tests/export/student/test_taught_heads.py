"""Heads that are taught for openWakeWord: the files say what torch says, and each was taught without some people."""

import base64
import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.small_world import clips_of_run, run_of_tones

from wakeword.base.errors import ConfigError, ModelError
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
from wakeword_export.student import head_teaching
from wakeword_export.student.head_teaching import head_teacher, teach_heads
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import HEAD_FILE
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.packed import packed_clips
from wakeword_train.pack.starter import STARTER, pack_path, read_pack
from wakeword_train.recipe import default_recipe
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_constants, head_logits
from wakeword_train.second_stage_config import SecondStageConfig

COMPUTER = shipped_models()["computer"]
OWN = base64.b64decode(checked_metadata(COMPUTER.read_bytes())[0][HEAD_KEY])
LOOKS = np.random.default_rng(0).normal(0, 8, (12, 16, 96)).astype(np.float32)


def test_the_graph_says_what_the_network_and_torch_say() -> None:
    torch.manual_seed(0)
    network, card = EmbeddedPhonemes.read(), read_model(COMPUTER).card
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
    write_taught_heads(tmp_path / HEAD_FILE, TaughtHeads(heads, alone, digest_beside(OWN)))
    kept = read_taught_heads(tmp_path / HEAD_FILE)
    assert kept is not None
    assert (kept.alone, kept.digest) == (alone, digest_beside(OWN))
    for own, other in zip(heads, kept.heads, strict=True):
        assert own.keys() == other.keys()
        assert all(np.array_equal(own[name], other[name]) for name in own)
    assert read_taught_heads(tmp_path / "none.npz") is None
    (tmp_path / HEAD_FILE).write_bytes((tmp_path / HEAD_FILE).read_bytes()[:-400])
    with pytest.raises(ModelError, match="expected heads for openWakeWord"):
        read_taught_heads(tmp_path / HEAD_FILE)


def test_a_word_of_another_language_is_refused_before_its_training() -> None:
    with pytest.raises(ConfigError, match="leave --for out"):
        head_teacher(dataclasses.replace(default_recipe(), keyword="zorvella", language="de"))


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
    first, again = (teach_heads(config, clips, COMPUTER, [OWN, OWN], run, report=lambda line: None) for _ in range(2))
    used = [one for _, one in known[:2]]
    assert torch.equal(used[0], ~used[1])
    assert 0.2 < float(used[0].float().mean()) < 0.8
    assert all(heard.any() and not heard.all() for heard, _ in known)  # words held out are heard by neither
    kept = read_taught_heads(run / HEAD_FILE)
    assert kept is not None
    for one, other, own in zip(first.heads, again.heads, kept.heads, strict=True):
        assert all(np.array_equal(one[name], other[name]) and np.array_equal(one[name], own[name]) for name in one)
    rates, logits = zip(*kept.alone["points"], strict=True)
    assert list(rates) == sorted(rates)
    assert list(logits) == sorted(logits, reverse=True)
    assert math.isclose(kept.alone["hours"], first.alone["hours"])
