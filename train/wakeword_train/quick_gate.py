"""The gate of the quick recogniser for a word: how often in speech the recogniser may be asked."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.audio.features import FeatureConfig, dct_matrix
from wakeword.base.types import Array, Scores
from wakeword.format.session import open_session, run_session
from wakeword.format.verifier_card import MAX_PHONEME_STEP
from wakeword.verify.embedding import STEP_FRAMES, WARM_UP
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword, search_for
from wakeword_train.pack.speech_pack import BLOCK, FRAMES_A_SECOND, HeardPack

ASKED_AN_HOUR = 500
"""How often the quick recogniser hears a word in speech without pauses, and asks the recogniser: 1.5 ms of each second.
At 350 two of a hundred recordings in rooms that the recogniser finds do not pass (train/evidence/text-alone.md)."""
LOWEST, HIGHEST = -3.0, -1.0
"""Bounds of a gate. Above the highest one people are lost, and below the lowest one any sound is like any word."""
_ONE_IN = 5
"""Recordings of the pack: half an hour is enough for a rate."""
LOG_MEL = "log_mel"
"""The tensor in the network that holds log-mel energies, ``(8 n, 32)``."""


def quick_gate(pack: HeardPack, network: Path, keyword: QuickKeyword) -> float:
    """The gate at which the recogniser is asked ``ASKED_AN_HOUR`` times in the pack's speech; ``network``: its file."""
    session = open_session(_of_log_mel(network))
    fits = np.sort(np.concatenate([_fits(heard, keyword) for heard in _heard_quickly(pack, session)]))
    hours = len(fits) * MAX_PHONEME_STEP / FRAMES_A_SECOND / 3600
    return float(np.clip(fits[-max(1, round(ASKED_AN_HOUR * hours))], LOWEST, HIGHEST))


def _fits(heard: Array, keyword: QuickKeyword) -> Scores:
    starts = np.arange(0, len(heard) - STEPS + 1, MAX_PHONEME_STEP // STEP_FRAMES)
    return search_for((keyword,)).fits_of(heard[starts[:, None] + np.arange(STEPS)])[:, 0]


def _heard_quickly(pack: HeardPack, session: onnxruntime.InferenceSession) -> Iterator[Array]:
    """What the network hears in some of the pack's recordings, ``(steps, width)`` each, from their MFCC."""
    pasts = {one.name: np.zeros(one.shape, np.float32) for one in session.get_inputs() if one.name != LOG_MEL}
    back = dct_matrix(FeatureConfig()).T  # the transform is orthonormal
    end = 0
    for number, recording in enumerate(pack.recordings):
        first, end = end, end + recording.frames // BLOCK
        if number % _ONE_IN == 0 and pack.mfcc_codec is not None and pack.mfcc_codes is not None:
            log_mel = pack.mfcc_codec.decode(pack.mfcc_codes[:, :, first:end]) @ back
            (heard,) = run_session(session, ["embeddings"], {LOG_MEL: log_mel, **pasts})
            yield heard[WARM_UP:]


def _of_log_mel(network: Path) -> bytes:
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
    return bytes(model.SerializeToString())
