"""The work of ``wakeword check``: advice on a wake word, as text or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from wakeword.base.text import counted, printable
from wakeword.cli.app import CROSS_PACKAGE
from wakeword.cli.console import note
from wakeword.cli.tables import console, table
from wakeword_tools.cli.measure_options import CheckOptions
from wakeword_tools.engines.languages import ENGLISH, name_of_language, require_language
from wakeword_tools.texts.advice import (
    COMPARING,
    EVERY_DAY,
    SHOWN,
    Advice,
    Grade,
    advise_in,
    graded_aspects,
    is_guess,
    longer,
    often,
    require_short,
    worrying,
)
from wakeword_tools.texts.foreign_language import ways_to_say


def print_check(options: CheckOptions) -> None:
    """Print what can be said of a keyword.

    Raises ``ConfigError`` if it is too long for a wake word or of an unknown language, ``SynthesisError`` if its language
    cannot pronounce it.
    """
    keyword = options.keyword
    require_short(keyword)
    code = require_language(keyword, options.language)
    ways_to_say(keyword, code)  # refused at once, before what takes long
    # On stderr, where it does not disturb what a program reads.
    note(COMPARING.format(keyword))
    advice, english = advise_in(code, keyword), code == ENGLISH
    if all(map(find_spec, ("wakeword_train", "wakeword_background", "onnx"))):
        advice = replace(advice, text_promise=CROSS_PACKAGE["text_promise"].load()(keyword, code))
    # Only where there is something to better.
    longest = longer(keyword) if english and advice.grade is not Grade.GOOD else []
    better = list(Grade)[: list(Grade).index(advice.grade)]
    phrases = [phrase for phrase in longest if phrase.grade in better]
    if options.as_json:
        content = {**_entry(advice), "longer": [_entry(phrase) for phrase in phrases]}
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        _print(advice, phrases)


def _entry(advice: Advice) -> dict[str, object]:
    return {
        "keyword": advice.keyword,
        "language": advice.language,
        "grade": advice.grade,
        "grades": advice.grades,
        "pronunciations": [" ".join(way) for way in advice.ways],
        "guessed": list(advice.guessed),
        "phonemes": advice.phonemes,
        "syllables": advice.syllables,
        "said_anyway_per_hour": _known(advice.anyway_per_hour),
        "close_words_per_hour": _known(advice.close_per_hour),
        "by_ear": (promise := advice.text_promise) and {"per_hour": _known(promise.per_hour), "recall": promise.recall},
        "said": [
            {
                "text": phrase.text,
                "relation": phrase.relation,
                "distance": phrase.distance,
                "per_hour": _known(phrase.per_hour),
            }
            for phrase in worrying(advice)
        ],
    }


def _known(per_hour: float) -> float | None:
    """A rate; ``None`` for what is said every day, no one knows how often."""
    return None if per_hour == EVERY_DAY else per_hour


def _print(advice: Advice, phrases: Sequence[Advice]) -> None:
    screen, lines = console(), graded_aspects(advice)
    width = max(map(len, lines))
    of = "" if advice.language == ENGLISH else f" ({name_of_language(advice.language)})"
    screen.print(
        f"{printable(advice.keyword)}{of}: {advice.grade} (the word, by what people say; `train` and `listen --say` judge "
        "a model of it, by what that hears)",
        soft_wrap=True,
    )
    for text, (grade, why) in lines.items():
        screen.print(f"  {text:<{width}}  {grade:<4}  ({why})", soft_wrap=True)
    screen.print(f"  spoken as    {' or '.join(' '.join(way) for way in advice.ways[:3])}", soft_wrap=True)
    if line := is_guess(advice):
        screen.print(f"  {line}", soft_wrap=True)
    listed = worrying(advice)
    if listed:
        close = table(f"what people say within {SHOWN:g} phonemes of it", "", "phonemes apart", "how often", "")
        for one in listed:
            close.add_row(one.text, f"{one.distance:.2f}", often(one.per_hour), str(one.relation))
        screen.print(close)
    for phrase in phrases:
        screen.print(
            f"Better: {printable(phrase.keyword)!r} is {phrase.grade}: {counted(phrase.phonemes, 'phoneme')}, said anyway "
            f"{often(phrase.anyway_per_hour)}, close words {often(phrase.close_per_hour)}",
            soft_wrap=True,
        )
    if advice.grade is not Grade.GOOD and not phrases:
        screen.print("Better: a word of three syllables or more that is seldom said", soft_wrap=True)
