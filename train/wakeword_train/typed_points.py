"""The operating points of a word that only phonemes judge, from what the recogniser heard in the packs."""

from collections.abc import Sequence

import numpy as np

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.poisson import poisson_rate
from wakeword.base.text import shortened
from wakeword.base.types import Array, Scores
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.point_warnings import SUPPORTED
from wakeword.format.verifier_card import Fusion, fused_score
from wakeword.verify.phoneme_verifier import BLANK, OPINION, KeywordPhonemes
from wakeword.verify.shared import file_digest
from wakeword_tools.measure.intervals import assurance_of_rate, most_events
from wakeword_tools.measure.rates import LADDER, RateKind, Target
from wakeword_tools.measure.scores import events_at, threshold_allowing_events
from wakeword_tools.transcripts import without_keyword
from wakeword_train.ear import ear_of
from wakeword_train.pack.starter import FRAMES_A_SECOND, FRAMES_OF_PHONEME, NOISE, STARTER, RecognisedPack, hours_of
from wakeword_train.spoken_texts import SpokenKeyword

FUSION = Fusion(bias=5.0, stage_one=0.0, embedding=0.0, phonemes=5.0, phoneme_floor=2.5, phoneme_gate=-1e6)
"""The score is 0.5 where the phonemes fit by -1, 0.993 where they fit as written, and next to the lowest from -2.4 down."""
MIN_FIT, MIN_FIT_ALONE, MIN_FIT_UNGUARDED = -1.5, -1.3, -1.0
"""No default is below these fits, with a second opinion, without one, and in a language without near words and
without speech: words that differ from a long one in a phoneme reach the last."""
_IN_NOISE = 1.0
"""False accepts an hour of noise and music."""
MAX_FIT = -0.02
"""Nor above this one, which a word that is heard as it is written reaches."""
_ROOM = 0.1
"""By how much the default is above what speech of the pack reached: it was heard once, and in use a word is looked at in
several windows, where the best counts."""
_LOOK, _STEP = 2 * FRAMES_A_SECOND // FRAMES_OF_PHONEME, 25
"""Frames of the recogniser in a look, and from one look at the pack to the next: half a second."""
_HOP = _STEP * FRAMES_OF_PHONEME


class TooCommonError(ConfigError):
    """Speech sounds like the word all the time."""


def points_of_search(keyword: KeywordPhonemes, spoken: SpokenKeyword) -> list[OperatingPoint]:
    """``_points_of_fits`` of a word in the installed packs. Raises as that does."""
    ear = ear_of(spoken.language)
    forms = spoken.keyword, *spoken.plan.also
    opinions = [ear.opinion.pack(name) if ear.opinion else None for name in (STARTER, NOISE)]
    tokens = ear.network.tokens
    speech = [fits for pack in ear.speech_packs for fits in pack_fits(pack, forms, keyword, tokens, opinions[0])]
    noise = pack_fits(ear.pack(NOISE), (), keyword, tokens, opinions[1])
    return _points_of_fits(speech, spoken, noise=noise, fingerprint=file_digest(ear.pack_path(STARTER))[:16])


def pack_fits(
    pack: RecognisedPack,
    forms: Sequence[str],
    keyword: KeywordPhonemes,
    tokens: Sequence[str],
    opinion: RecognisedPack | None = None,
) -> list[Scores]:
    """How well a word fits in the pack, at each look of each of its parts, ``(looks,)``: 0 or less.

    The utterances in which one of ``forms`` is said are left out, and silence is heard before each part. Minus infinity
    where it cannot fit so well that a threshold depends on it, and where a near word is said. ``opinion``: what another
    recogniser hears in the same recordings, for a second opinion.
    """
    if opinion is not None and opinion.recordings != pack.recordings:
        raise DataError(f"{opinion.path}: expected the recordings of {pack.path}, got others; install both anew")
    parts = pack.parts
    for form in forms:
        parts = without_keyword(parts, pack.transcripts, form)
    blank = tokens.index(BLANK)
    before = pack.phonemes.between(-_LOOK, 0, len(tokens), blank)
    least = MIN_FIT - _ROOM
    least_alone = least if opinion is None else least / (1 - OPINION)
    of_parts = list[Scores]()
    for part in parts:
        first, last = (round(time * FRAMES_A_SECOND / FRAMES_OF_PHONEME) for time in part.span)

        def heard_in(recogniser: RecognisedPack, first: int = first, last: int = last) -> Array:
            return np.concatenate([before, recogniser.phonemes.between(first, last, len(tokens), blank)])

        heard = heard_in(pack)
        fits = _fits(keyword, keyword.of_states(heard), least_alone)
        close = np.flatnonzero(fits > least_alone).tolist()
        other = heard_in(opinion) if opinion is not None and close else None
        for look in close:
            frames = slice(_STEP * (look + 1), _STEP * (look + 1) + _LOOK)
            if keyword.is_near_word(heard[frames], fit := float(fits[look])):
                fits[look] = -np.inf
            elif other is not None:
                fits[look] = keyword.with_opinion(fit, other[frames])
        of_parts.append(fits)
    return of_parts


def _fits(keyword: KeywordPhonemes, states: Array, least: float) -> Scores:
    """How well a word fits in each look at ``(frames, states)``; minus infinity where a bound shows less than ``least``."""
    starts = np.arange(_STEP, len(states) - _LOOK + 1, _STEP)
    spans = np.maximum.reduceat(states, np.arange(0, len(states), _STEP))
    best = np.maximum.reduce([spans[span : span + len(starts)] for span in range(1, 1 + _LOOK // _STEP)])
    fits = np.full(len(starts), -np.inf)
    close = keyword.at_most(best) > least - _ROOM
    fits[close] = keyword.fits((states[starts[close] + frame] for frame in range(_LOOK)), starts[close].shape)
    return fits


def score_of_fit(fit: float) -> float:
    """The score of a window that fits so well."""
    return fused_score(FUSION.upper(0, 0) + FUSION.phonemes * fit)


def _points_of_fits(
    fits: Sequence[Scores], spoken: SpokenKeyword, *, noise: Sequence[Scores], fingerprint: str
) -> list[OperatingPoint]:
    """The points for each rate of false accepts an hour that the looks at speech, ``pack_fits``, can keep, the strictest
    first; in ``noise``, of another pack, each has at most one an hour. Raises ``TooCommonError`` if there is none.
    """
    hours, noise_hours = (hours_of(sum(map(len, looks)) * _HOP) for looks in (fits, noise))
    noises = [np.exp(looks) for looks in noise]
    of_noise = threshold_allowing_events(noises, round(_IN_NOISE * noise_hours), hop=_HOP)
    streams = [np.exp(looks) for looks in fits]
    points, strictest = list[OperatingPoint](), np.inf
    ear = ear_of(spoken.language)
    others = " and of other languages" if len(ear.speech_names) > 1 else ""
    lowest = MIN_FIT_UNGUARDED if ear.foreign else MIN_FIT if ear.opinion else MIN_FIT_ALONE
    for target in (Target(RateKind.FA_PER_HOUR, rate) for rate in LADDER):
        allowed = most_events(hours, target.value, confidence=SUPPORTED)
        reached = np.inf if allowed is None else threshold_allowing_events(streams, allowed, hop=_HOP)
        if reached > 1:
            continue
        fit = float(np.clip(np.log(max(reached, of_noise, 1e-9)) + _ROOM, lowest, MAX_FIT))
        if fit >= strictest:
            continue  # a laxer rate that brings nothing
        strictest = fit
        people = ear.people.typed_found(fit, spoken.language)
        events = events_at(streams, float(np.exp(fit)), hop=_HOP)
        points.append(
            OperatingPoint(
                target.name,
                target.kind.value,
                target.value,
                score_of_fit(fit),
                people.middle,
                people.low,
                people.high,
                f"made from its text, not trained: what {people.words} other words find, where their sounds must fit as "
                f"well; speech of the starter pack{others}, {events} false accepts in {hours:.2f} h; noise and music, "
                f"{events_at(noises, float(np.exp(fit)), hop=_HOP)} in {noise_hours:.2f} h",
                synthetic=0,
                false_accepts_per_hour=Rate(events / hours, *poisson_rate(events, hours), events, hours),
                assurance=assurance_of_rate(allowed or 0, hours, target.value),
                fingerprint=fingerprint,
            )
        )
    if not points:
        raise TooCommonError(
            f"expected a word that speech does not sound like more than {LADDER[-1]:g} times an hour, got "
            f"{shortened(repr(spoken.keyword))}; take a longer one, or train it: wakeword train --anyway"
        )
    return points
