"""The quick recogniser in a pack's speech, and its gate for a word: how often in speech the recogniser may be asked."""

import dataclasses
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.audio.features import FeatureConfig, dct_matrix
from wakeword.base.types import Array, Scores
from wakeword.format.session import open_session, run_session
from wakeword.format.verifier_card import MAX_PHONEME_STEP, VerifierCard
from wakeword.verify.embedding import STEP_FRAMES, WARM_UP
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword, search_for
from wakeword.verify.shared import file_digest, load_quick
from wakeword_train.pack.starter import BLOCK, STARTER, RecognisedPack, hours_of, pack_path, read_recognised

_ASKED_AN_HOUR = 500
"""How often the quick recogniser hears a word in speech without pauses, and asks the recogniser: 1.5 ms of each second.
At 350 two of a hundred recordings in rooms that the recogniser finds do not pass (train/evidence/text-alone.md)."""
TRAINED_ASKED = 1_000
"""The same of a word that was trained: first stage and head have to like the sound too, so that the quick recogniser may
let more pass for the same cost."""
_MIN_GATE, _MAX_GATE = -3.0, -1.0
"""Bounds of a gate. Above the highest one people are lost, and below the lowest one any sound is like any word."""
_ONE_IN = 5
"""Recordings of the pack: half an hour is enough for a rate."""
LOG_MEL = "log_mel"
"""The tensor in the network that holds log-mel energies, ``(8 n, 32)``."""


def with_quick(verifier: VerifierCard, path: Path | None, *, asked: float = _ASKED_AN_HOUR) -> VerifierCard:
    """Let the recogniser be asked only where the quick one hears the word, if that knows the word's phonemes.

    ``path``: the quick one's file; ``None`` if there is none. ``asked``: how often it hears the word in an hour of the
    starter pack's speech.
    """
    if path is None:
        return verifier
    quick = load_quick(path, digest := file_digest(path))
    if not quick.can_hear(verifier.phonemes):
        return verifier
    keyword = QuickKeyword(quick, verifier.phonemes, verifier.phoneme_losses)
    gate = quick_gate(read_recognised(pack_path(STARTER)), path, keyword, asked)
    return dataclasses.replace(verifier, quick_digest=digest, quick_gate=gate)


def quick_gate(pack: RecognisedPack, network: Path, keyword: QuickKeyword, asked: float = _ASKED_AN_HOUR) -> float:
    """The gate at which the quick recogniser hears the word so often in an hour of the pack; ``network``: its file."""
    fits = np.sort(np.concatenate([_fits(quick_outputs(mfcc, network)[WARM_UP:], keyword) for mfcc in _some(pack)]))
    hours = hours_of(len(fits) * MAX_PHONEME_STEP)
    return float(np.clip(fits[-max(1, round(asked * hours))], _MIN_GATE, _MAX_GATE))


def _fits(heard: Array, keyword: QuickKeyword) -> Scores:
    starts = np.arange(0, len(heard) - STEPS + 1, MAX_PHONEME_STEP // STEP_FRAMES)
    return search_for((keyword,)).fits(heard[starts[:, None] + np.arange(STEPS)])[:, 0]


def quick_outputs(mfcc: Array, network: Path) -> Array:
    """What a quick recogniser hears in frames ``(8 n, n_mfcc)``: ``(n, width)``, the first ``WARM_UP`` with little past.

    ``network``: its file.
    """
    session = _session(network)
    pasts = {one.name: np.zeros(one.shape, np.float32) for one in session.get_inputs() if one.name != LOG_MEL}
    log_mel = mfcc @ dct_matrix(FeatureConfig()).T  # the transform is orthonormal
    (heard,) = run_session(session, ["embeddings"], {LOG_MEL: log_mel, **pasts})
    return np.asarray(heard)


def _some(pack: RecognisedPack) -> Iterator[Array]:
    """The MFCC of some of the pack's recordings, ``(frames, n_mfcc)`` each."""
    end = 0
    for number, recording in enumerate(pack.recordings):
        first, end = end, end + recording.frames // BLOCK
        if number % _ONE_IN == 0 and pack.mfcc_codec is not None and pack.mfcc_codes is not None:
            yield pack.mfcc_codec.decode(pack.mfcc_codes[:, :, first:end])


@lru_cache(maxsize=1)
def _session(network: Path) -> onnxruntime.InferenceSession:
    """The network from its log-mel energies on."""
    import onnx

    model = onnx.load(network)
    nodes, inputs = model.graph.node, model.graph.input
    last = next(number for number, node in enumerate(nodes) if LOG_MEL in node.output)
    del nodes[: last + 1]
    others = [one for one in inputs if one.name != "power"]
    del inputs[:]
    bands = FeatureConfig().n_mels
    inputs.extend([onnx.helper.make_tensor_value_info(LOG_MEL, onnx.TensorProto.FLOAT, ["frames", bands]), *others])
    return open_session(model.SerializeToString())
