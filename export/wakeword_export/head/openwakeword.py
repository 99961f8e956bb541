"""The exporter ``openwakeword``: the head of the second stage, alone and always on, as files for openWakeWord's engines."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.files import write_json
from wakeword.base.logistic import score_of_logit
from wakeword.base.version import __version__
from wakeword.format.digest import checked_metadata
from wakeword.format.session import open_session, run_session
from wakeword.model.installed import assets_folder
from wakeword.model.model import Model
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, HEAD_KEY
from wakeword_export.exporter import Exporter, ExportOrder, engine_name
from wakeword_export.head.head_files import onnx_bytes, rescaled, tflite_bytes
from wakeword_export.head.head_promise import LAX, STRICT, USUAL, HeadPoint, guessed, noted
from wakeword_export.head.head_weights import HeadWeights, head_weights
from wakeword_tools.kinds import Kind

_TOLERANCE = 1e-5
"""Largest difference of a written file's probability from the head's."""
_NOTED = (
    "0.5: {rate:g} false accepts an hour in the {hours:.1f} h of the training's background{asked}; no recordings were "
    "given: --background with hours of speech without the word measures it as openWakeWord hears"
)
_GUESSED = (
    "not calibrated for this use: the threshold is a guess from the model's card, as no recordings were given, and may "
    "fire dozens of times an hour; --background with hours of speech without the word measures it"
)


def check_model(model: Model) -> None:
    """Raise ``ModelError`` for a model without a second stage, and so without a head."""
    if model.card.verifier is None:
        raise ModelError(
            f"expected a model with a second stage, as `wakeword train` makes it, got the model {model.card.phrase!r} with "
            "one stage: openWakeWord's engines can only run the head of a second stage; train the word again"
        )


def write(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write NAME.tflite, NAME.onnx, NAME.json and README.txt; the lines that say what they promise."""
    check_model(order.model)
    card = order.model.card
    phrase = card.phrase
    metadata, _ = checked_metadata(order.data)
    head = head_weights(base64.b64decode(metadata[HEAD_KEY]))
    known = noted(card, order.fa_per_hour)
    point, lines, content = guessed(card), [_GUESSED], None
    if known is not None:
        asked = "" if known.fa_per_hour == order.fa_per_hour else f", where {order.fa_per_hour:g} was asked for"
        point, lines = known.point, [_NOTED.format(rate=known.fa_per_hour, hours=known.hours, asked=asked)]
    if order.recordings.files.get(Kind.BACKGROUND):
        point, lines, content = _calibrated(order, head)
    name = engine_name(phrase)
    scaled = rescaled(head, scale=point.scale, shift=point.shift)
    about = f"{phrase}, made by wakeword {__version__}"
    (folder / f"{name}.tflite").write_bytes(tflite_bytes(scaled, description=about))
    (folder / f"{name}.onnx").write_bytes(_checked(onnx_bytes(scaled, description=about), scaled))
    settings = {"probability_cutoff": USUAL}
    described = {"type": "openWakeWord", "wake_word": phrase, "model": f"{name}.tflite", "openWakeWord": settings}
    write_json(folder / f"{name}.json", {**described, "wakeword": {"version": __version__, "promise": content}})
    text = _README.format(phrase=phrase, name=name, lax=LAX, usual=USUAL, strict=STRICT, promise="\n  ".join(lines))
    (folder / "README.txt").write_text(text, encoding="utf-8")
    return lines


def _calibrated(order: ExportOrder, head: HeadWeights) -> tuple[HeadPoint, list[str], dict[str, Any]]:
    """The point on the recordings, and its promise as lines and as JSON."""
    # Imported here, as only this needs scipy.
    from wakeword_export.head.head_promise import calibrated
    from wakeword_export.head.head_scores import HeadListener, exported_scores
    from wakeword_export.head.oww_features import OwwFeatures
    from wakeword_tools.measure.recordings import score_files

    files, own = order.recordings.files, None
    order.report(f"listening to {len(files[Kind.BACKGROUND])} recordings of background as openWakeWord does")
    features = OwwFeatures(assets_folder() / "encoders" / EMBEDDING_FILE)
    heard = exported_scores(HeadListener(head, features), order.recordings, warn=order.report)
    if files.get(Kind.POSITIVE):
        order.report("listening to the same recordings with both stages, to compare")
        # What is wrong with a recording has been said.
        own = score_files([order.model], order.recordings, warn=lambda message: None)
    point, promise = calibrated(heard, order.fa_per_hour, own=own, warn=order.report)
    return point, promise.lines(), promise.to_json()


def _checked(data: bytes, head: HeadWeights) -> bytes:
    """An ONNX file with the head's probabilities. ``ModelError`` if they are not."""
    looks = np.random.default_rng(0).normal(0, 8, (HEAD_EMBEDDINGS + 4, DIMENSION)).astype(np.float32)
    session = open_session(data)
    for start, logit in enumerate(head.logits(looks).tolist()):
        given = {"embeddings": looks[None, start : start + HEAD_EMBEDDINGS]}
        (found,) = run_session(session, ["score"], given)
        if not abs(float(found[0, 0]) - score_of_logit(logit)) <= _TOLERANCE:
            raise ModelError(f"expected the exported head to give {score_of_logit(logit):.6g}, got {found[0, 0]:.6g}")
    return data


_README = """\
{phrase}: files for openWakeWord and the programs that run its models

  {name}.tflite  Home Assistant's add-on openWakeWord, wyoming-openwakeword, pyopen-wakeword, linux-voice-assistant
  {name}.json    linux-voice-assistant, next to the .tflite
  {name}.onnx    openWakeWord for Python, livekit-wakeword, browsers, Android apps

Input: 16 embeddings of 96 numbers, (1, 16, 96) float32. Output: a probability, (1, 1), each 80 ms.
Use the threshold {usual}. With {lax} more words are found and there are more false accepts; with {strict} fewer.
The second stage of the model always listens here, without the first stage and without the phonemes.

What was measured, by threshold:
  {promise}
Other speech can give more false accepts, above all if the model was trained on the speech of this measurement.

Which file goes where, step by step: docs/export.md of wakeword.
"""

EXPORTER = Exporter("openwakeword", write, check_model, packages=("flatbuffers",))
