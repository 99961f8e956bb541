"""Several wake words on one stream, each with its own operating point.

    python examples/two_keywords.py jarvis computer@fpr=0.03
    python examples/two_keywords.py jarvis computer@fpr=0.03 --input assets/audio/sentences.flac

A model is a shipped keyword or a file from `wakeword train`. The operating point after @ is one of those that
`wakeword info MODEL` lists; without it, the model's default is used. All models share the audio and its features.
"""

import argparse
from contextlib import suppress

from wakeword import Detector, FileSource, Microphone, WakewordError, load_model


def main() -> None:
    parser = argparse.ArgumentParser(description="Listens for several wake words.")
    parser.add_argument("models", metavar="MODEL[@POINT]", nargs="+", help="a shipped keyword or a model file")
    parser.add_argument("--input", metavar="FILE", help="a recording instead of the microphone")
    arguments = parser.parse_args()
    models, points = [], {}
    for given in arguments.models:
        name, _, point = given.partition("@")
        models.append(load_model(name))
        if point:
            points[models[-1].card.phrase] = point
    detector = Detector(models, point=points)
    for keyword, threshold in detector.thresholds.items():
        print(f"{keyword}: from {threshold:.6g} on, point {points.get(keyword, 'by default')}", flush=True)
    source = Microphone(reconnect=True) if arguments.input is None else FileSource(arguments.input)
    with source, suppress(KeyboardInterrupt):
        for detection in detector.run(source):
            print(f"{detection.end:.2f} s: {detection.keyword}, score {detection.score:.3f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no microphone or file: one line that says what to do
        raise SystemExit(str(error)) from error
