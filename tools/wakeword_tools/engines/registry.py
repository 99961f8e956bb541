"""The registry of engines: the engines built in, one line each, and engines of other packages.

A package adds an engine with an entry point of the group ``wakeword.engines`` that has the engine's name and refers to
its ``Engine`` record::

    [project.entry-points."wakeword.engines"]
    mytts = "my_package.tts:ENGINE"
"""

from collections.abc import Iterable
from functools import cache
from typing import Literal

from wakeword.base.errors import SynthesisError
from wakeword.base.plugins import plugin_names
from wakeword_tools.engines import command_engine, espeak, kokoro, learners
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.engines.synthesizer import Engine, Synthesizer
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.registered import registered

ENTRY_POINTS = "wakeword.engines"
"""Group of the entry points through which other packages add engines."""

INSTALLED = "installed"
"""In place of an engine: all of a kind that this machine has."""

BUILT_IN = (espeak.ENGINE, kokoro.ENGINE, learners.ENGINE, command_engine.ENGINE)


@cache
def engine_named(name: str) -> Engine:
    """The engine of that name; a built-in one takes precedence over one of another package.

    Raises ``SynthesisError`` if there is none, or if its package cannot be used.
    """
    return registered(name, BUILT_IN, ENTRY_POINTS, "engines among", SynthesisError)


def installed_engines(kind: Literal["fast", "natural"]) -> tuple[str, ...]:
    """The engines of this kind that this machine has, as ``english_voices`` takes them: built-in ones first.

    Raises ``SynthesisError`` if a package with an engine cannot be used.
    """
    engines = [*BUILT_IN, *map(engine_named, _outside())]
    return tuple(name for engine in engines if engine.kind == kind and (name := engine.available()) is not None)


def resolved_engines(engines: tuple[str, ...], *, natural: bool) -> tuple[str, ...]:
    """The engines, with ``installed`` replaced by the natural or the fast ones of this machine."""
    own = installed_engines("natural" if natural else "fast") if INSTALLED in engines else ()
    return tuple(dict.fromkeys(one for engine in engines for one in (own if engine == INSTALLED else (engine,))))


def engine_of(voice: Voice) -> Synthesizer:
    """The synthesizer of a voice, created once in a process. ``SynthesisError`` if it is not installed."""
    return _synthesizer(voice.engine)


@cache
def _synthesizer(name: str) -> Synthesizer:
    return engine_named(name).synthesizer()


def takes_phonemes(voice: Voice) -> bool:
    """Whether a voice speaks phonemes in ``[[...]]``."""
    return engine_named(voice.engine).takes_phonemes


def english_voices(split: Split | None = None, *, engines: Iterable[str] = (ESPEAK,)) -> list[Voice]:
    """The voices of a split, or of all splits, in a stable order.

    An engine is given by its name, followed by ``:PLACE`` if it takes one: ``espeak-ng``, ``kokoro``,
    ``command:FILE.toml``, or one of another package. Only the embedded engine by default, so that a seed
    gives the same clips on every machine. Raises ``SynthesisError`` for an unknown engine, ``ConfigError`` where
    Kokoro cannot be used.
    """
    return voices_in(ENGLISH, split, engines=engines)


def voices_in(language: str, split: Split | None = None, *, engines: Iterable[str] = (ESPEAK,)) -> list[Voice]:
    """``english_voices`` for any language: the voices of these engines that speak it, which may be none."""
    found: list[Voice] = []
    for engine in engines:
        own = _voices_of(engine)
        found += own if language == ENGLISH else engine_named(engine.partition(":")[0]).in_language(own, language)
    return [voice for voice in found if split in (None, voice.split)]


def _voices_of(text: str) -> list[Voice]:
    """Every voice of an engine, given as for ``english_voices``."""
    name, colon, place = text.partition(":")
    engine = engine_named(name)
    if (colon and not (place and engine.takes_place)) or (engine.takes_place and not place):
        # Of other packages' engines only the names, so that none is loaded.
        built_in = [f"{one.name}:{one.takes_place}" if one.takes_place else one.name for one in BUILT_IN]
        *most, last = [*built_in, *_outside()]
        raise SynthesisError(f"expected engines among {', '.join(most)} and {last}, got {text!r}")
    return engine.voices(place)


def _outside() -> list[str]:
    """The names of other packages' engines."""
    return sorted(set(plugin_names(ENTRY_POINTS)) - {engine.name for engine in BUILT_IN})
