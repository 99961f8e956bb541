"""The exporter ``openwakeword``: the head of the second stage, alone and always on, as files for openWakeWord's engines."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.version import __version__
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import assets_folder
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_export.exporter import Exporter, ExportOrder, engine_name, require_second_stage
from wakeword_export.head.head_files import onnx_bytes, rescaled, tflite_bytes
from wakeword_export.head.head_promise import LAX, STRICT, USUAL, HeadPoint, calibrated, guessed, noted
from wakeword_export.head.head_scores import HeadListener, exported_scores
from wakeword_export.head.head_weights import head_weights
from wakeword_export.head.oww_features import OwwFeatures
from wakeword_export.trial import TRIED, require_silence, reset_noise, trial_sounds
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import score_files

_NOTED = (
    "0.5: {rate:g} false accepts an hour in the {hours:.1f} h of the training's background{asked}; no recordings were "
    "given: --background with hours of speech without the word measures it as openWakeWord hears"
)
_GUESSED = (
    "not calibrated for this use: the threshold is a guess from the model's card, as no recordings were given, and may "
    "fire dozens of times an hour; --background with hours of speech without the word measures it"
)


def write(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write NAME.tflite, NAME.onnx, NAME.json and README.txt; the lines that say what they promise."""
    card = order.model.card
    phrase = card.phrase
    metadata, _ = checked_metadata(order.data)
    data = base64.b64decode(metadata[HEAD_KEY])
    weights = head_weights(data)
    listener = HeadListener(Head(data), OwwFeatures(assets_folder() / "encoders" / EMBEDDING_FILE))
    known = noted(card, order.fa_per_hour)
    point, lines, content = guessed(card), [_GUESSED], None
    if known is not None:
        point, rate, hours = known
        asked = "" if rate == order.fa_per_hour else f", where {order.fa_per_hour:g} was asked for"
        lines = [_NOTED.format(rate=rate, hours=hours, asked=asked)]
    if order.recordings.files.get(Kind.BACKGROUND):
        point, lines, content = _calibrated(order, listener)
    resets = [listener.after_resets(reset_noise(30), sound[: 2 * SAMPLE_RATE]) for sound in trial_sounds().values()]
    require_silence(listener.scores, point.threshold(USUAL), {"the noise after a reset": np.concatenate(resets)})
    name = engine_name(phrase)
    scaled = rescaled(weights, scale=point.scale, shift=-point.scale * point.logit)
    about = f"{phrase}, made by wakeword {__version__}"
    (folder / f"{name}.tflite").write_bytes(tflite_bytes(scaled, description=about))
    (folder / f"{name}.onnx").write_bytes(onnx_bytes(scaled, description=about))
    settings = {"probability_cutoff": USUAL}
    described = {"type": "openWakeWord", "wake_word": phrase, "model": f"{name}.tflite", "openWakeWord": settings}
    write_json(folder / f"{name}.json", {**described, "wakeword": {"version": __version__, "promise": content}})
    promise = "\n  ".join([*lines, TRIED])
    text = _README.format(phrase=phrase, name=name, lax=LAX, usual=USUAL, strict=STRICT, promise=promise)
    (folder / "README.txt").write_text(text, encoding="utf-8")
    return lines


def _calibrated(order: ExportOrder, listener: HeadListener) -> tuple[HeadPoint, list[str], dict[str, Any]]:
    """The point on the recordings, and its promise as lines and as JSON."""
    files, own = order.recordings.files, None
    order.report(f"listening to {len(files[Kind.BACKGROUND])} recordings of background as openWakeWord does")
    heard = exported_scores(listener, order.recordings, warn=order.report)
    if files.get(Kind.POSITIVE):
        order.report("listening to the same recordings with both stages, to compare")
        # What is wrong with a recording has been said.
        own = score_files([order.model], order.recordings, warn=lambda message: None)
    point, promise = calibrated(heard, order.fa_per_hour, own=own, warn=order.report)
    return point, promise.lines(), promise.to_json()


_README = """\
{phrase}: files for openWakeWord and the programs that run its models

  {name}.tflite  Home Assistant's add-on openWakeWord, wyoming-openwakeword, pyopen-wakeword, linux-voice-assistant
  {name}.json    linux-voice-assistant, next to the .tflite
  {name}.onnx    openWakeWord for Python, livekit-wakeword, browsers, Android apps

Use the threshold {usual}. With {lax} more words are found and there are more false accepts; with {strict} fewer.
The second stage of the model always listens here, without the first stage and without the phonemes.

What was measured, by threshold:
  {promise}
Other speech can give more false accepts, above all if the model was trained on the speech of this measurement.

Which file goes where, step by step: docs/export.md of wakeword.
"""

_EXPECTED = (
    "some 7 minutes on two cores; of three words trained from their text it found 94, 72 and 68 % of the recordings of "
    "people, at half a false accept an hour"
)
EXPORTER = Exporter("openwakeword", write, require_second_stage, _EXPECTED)
