"""The exporter ``openwakeword``: what always listens of a model, as files for openWakeWord's engines.

That is the head of the second stage. Of an English word it is also its phonemes, as a small network hears them in the same
embeddings, where recordings or a training ``--for openwakeword`` say how often all fire; that training adds heads on what
the network hears.
"""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ModelError
from wakeword.base.files import write_json
from wakeword.base.version import __version__
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword.verify.verifier_head import HEAD_KEY
from wakeword_export.exporter import Exporter, ExportOrder, engine_name, require_second_stage
from wakeword_export.head.float_graph import HeadGraph, head_weights, logit_of_head
from wakeword_export.head.listener import HeadListener, exported_scores
from wakeword_export.head.oww_features import OwwFeatures
from wakeword_export.head.phoneme_graph import EmbeddedPhonemes, with_fit
from wakeword_export.head.slider_points import LAX, STRICT, USUAL_THRESHOLD, Noted, calibrated, noted
from wakeword_export.head.taught_head import TaughtHeads, digest_beside, logit_of_taught, read_taught_heads
from wakeword_export.trial import TRIED, require_silence, reset_noise, trial_sounds
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import HEAD_ALONE_KEY, HEAD_FILE

_NOTED = (
    "0.5: {rate:g} false accepts an hour in the {hours:.1f} h of the training's background{asked}; no recordings were "
    "given: --background with hours of speech without the word measures it as openWakeWord hears"
)
_TAUGHT = "the head, beside heads on what a small network hears of phonemes"
_ALONE = "the head alone, without the word's phonemes"
_BOTH = "the head, with the word's phonemes as a small network hears them"
_MORE = (
    "an English word is found more often if it was trained with --for openwakeword (--work names the folder of its "
    "training), or with --background: its phonemes are heard then"
)


def write(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write NAME.tflite, NAME.onnx, NAME.json and README.txt; the lines that say what they promise.

    Raises ``ModelError`` without recordings, if no training has noted how often what is exported fires.
    """
    card = order.model.card
    metadata, _ = checked_metadata(order.data)
    own = base64.b64decode(metadata[HEAD_KEY])
    measured, taught = order.recordings.files.get(Kind.BACKGROUND), _taught(order, own)
    features = OwwFeatures(encoders_folder() / EMBEDDING_FILE)
    graph, logit, known, more, of_what = _own(order, own) if taught is None else _of_taught(order, own, taught)
    listener = HeadListener(graph.runner(logit), features)
    if measured:
        order.report(f"listening to {len(measured)} recordings of background as openWakeWord does")
        scores = exported_scores(listener, order.recordings, warn=order.report)
        point, promise = calibrated(scores, order.fa_per_hour, warn=order.report)
        lines = promise.lines()
    elif known is None:
        raise ModelError(
            f"expected --background with hours of speech without {card.phrase!r}, to measure its threshold, as no training "
            "noted one; or train the word again"
        )
    else:
        point, lines = known.point, [known.told(_NOTED, order.fa_per_hour), *more]
    lines = [*lines, of_what]
    resets = [listener.after_resets(reset_noise(30), sound[: 2 * SAMPLE_RATE]) for sound in trial_sounds().values()]
    after = {"the noise after a reset": np.concatenate(resets)}
    require_silence(listener.scores, point.threshold(USUAL_THRESHOLD), after)
    phrase, name = card.phrase, engine_name(card.phrase)
    about = f"{phrase}, made by wakeword {__version__}"
    tflite, onnx = graph.written(logit, scale=point.scale, shift=-point.scale * point.logit, description=about)
    (folder / f"{name}.tflite").write_bytes(tflite)
    (folder / f"{name}.onnx").write_bytes(onnx)
    settings = {"probability_cutoff": USUAL_THRESHOLD}
    described = {"type": "openWakeWord", "wake_word": phrase, "model": f"{name}.tflite", "openWakeWord": settings}
    write_json(folder / f"{name}.json", {**described, "wakeword": {"version": __version__}})
    known_of_it = "\n  ".join([*lines, TRIED])
    text = _README.format(phrase=phrase, name=name, lax=LAX, usual=USUAL_THRESHOLD, strict=STRICT, promise=known_of_it)
    (folder / "README.txt").write_text(text, encoding="utf-8")
    return lines


class _Judge(NamedTuple):
    """What listens, and what is known of it without recordings."""

    graph: HeadGraph
    logit: int
    known: Noted | None
    more: Sequence[str]
    of_what: str


def _own(order: ExportOrder, own: bytes) -> _Judge:
    """The head of the model, and its phonemes where recordings say how often both fire."""
    card, graph = order.model.card, HeadGraph()
    head = logit = logit_of_head(graph, head_weights(own))
    if order.recordings.files.get(Kind.BACKGROUND):
        logit = with_fit(graph, head, card, EmbeddedPhonemes.read())
    known, more = noted(card.training.get("head"), order.fa_per_hour), [_MORE] if card.language == ENGLISH else []
    return _Judge(graph, logit, known, more, _ALONE if logit == head else _BOTH)


def _of_taught(order: ExportOrder, own: bytes, taught: TaughtHeads) -> _Judge:
    """Heads that were taught for this."""
    graph, known = HeadGraph(), noted({HEAD_ALONE_KEY: taught.alone}, order.fa_per_hour)
    return _Judge(graph, logit_of_taught(graph, taught.heads, own, order.model.card), known, [], _TAUGHT)


def _taught(order: ExportOrder, own: bytes) -> TaughtHeads | None:
    """The heads that were taught with the model, if they were."""
    taught = read_taught_heads(order.run / HEAD_FILE)
    if taught is None or taught.digest == digest_beside(own, order.model.card):
        return taught
    order.report(f"the heads in {order.run} are of another model or version, so they are left out")
    return None


_README = """\
{phrase}: files for openWakeWord and the programs that run its models

  {name}.tflite  Home Assistant's add-on openWakeWord, wyoming-openwakeword, pyopen-wakeword, linux-voice-assistant
  {name}.json    linux-voice-assistant, next to the .tflite
  {name}.onnx    openWakeWord for Python, livekit-wakeword, browsers, Android apps

Use the threshold {usual}. With {lax} more words are found and there are more false accepts; with {strict} fewer.
The second stage of the model always listens here, without the first stage.

What is known of it, by threshold:
  {promise}
Other speech can give more false accepts, above all if the model was trained on the speech of this measurement.

Which file goes where, step by step: docs/export.md of wakeword.
"""

_EXPECTED = (
    "some 15 minutes on two cores; of six words trained from their text, at the thresholds that their training noted, it "
    "found 92 % of the recordings of people and fired 0.3 times an hour"
)
EXPORTER = Exporter("openwakeword", write, require_second_stage, _EXPECTED, "openwakeword")
