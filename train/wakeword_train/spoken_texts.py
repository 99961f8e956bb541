"""Which texts are spoken for each split: the keyword and what it may be called too, close words, and other words."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.base.errors import ConfigError
from wakeword.base.events import Events
from wakeword.model.installed import assets_folder
from wakeword_tools.engines.languages import ENGLISH, name_of_language
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.candidates import choose_texts, speakable
from wakeword_tools.texts.confusables import confusables, near_ways, without_sound_of
from wakeword_tools.texts.foreign_language import ways_to_say
from wakeword_tools.texts.foreign_words import (
    foreign_confusables,
    foreign_of_ipa,
    foreign_splits,
    foreign_without,
    other_words,
)
from wakeword_tools.texts.phonemes import phones_of_ipa, to_espeak
from wakeword_tools.texts.recogniser import RecognisedWay, TokenCosts, foreign_variants, in_tokens, recogniser_variants
from wakeword_tools.texts.splits import read_texts, split_texts, spoken_phrases
from wakeword_train.synthesis_config import SynthesisConfig

if TYPE_CHECKING:
    from wakeword_train.config import TrainConfig

_SpokenTexts = dict[Split, dict[str, float | None]]
"""The texts of each split, and the distance of each from the keyword if known."""

SHARES = {Split.TRAIN: 1.0, Split.VALIDATION: 0.2}
"""Splits that are synthesised, and the number of clips of each as a share of the configured number."""
_DISTINCT, MAX_NEAR = 300, 64
"""Different near negatives generated for training, for validation in proportion; near words of a model from its text."""
_PHRASES_PER_TEXT = 6


@dataclass(frozen=True)
class SpokenKeyword:
    """A keyword and how clips of it, and of words that it is not, are to be spoken."""

    keyword: str
    plan: SynthesisConfig
    seed: int
    language: str = ENGLISH

    @classmethod
    def of(cls, config: "TrainConfig") -> "SpokenKeyword":
        """The keyword of a configuration."""
        return cls(config.keyword, config.synthesis, config.seed, config.language)

    @property
    def forms(self) -> list[str]:
        """What is spoken as the keyword: its ways to be said if they are given, otherwise its letters; and other phrases.

        Raises ``SynthesisError`` for a way to say it that is not IPA of its language.
        """
        if self.language == ENGLISH:
            ways = [to_espeak(phones_of_ipa(way)) for way in self.plan.say]
        else:
            ways = [foreign_of_ipa(way, self.language) for way in self.plan.say]
        return list(dict.fromkeys([*(ways or [self.keyword]), *self.plan.also]))

    def require_spoken(self) -> None:
        """Raise ``SynthesisError`` for a form that its language cannot say."""
        for form in self.forms:
            ways_to_say(form, self.language)

    def variants(self, known: Collection[str], costs: TokenCosts | None = None) -> tuple[RecognisedWay, ...]:
        """The ways to say any form, as tokens that the recogniser has; empty if it lacks one of a form. ``costs``: see
        ``recogniser_variants`` and ``foreign_variants``."""
        of_forms = [
            recogniser_variants(form, known, costs)
            if self.language == ENGLISH
            else foreign_variants(form, self.language, known, costs)
            for form in self.forms
        ]
        return tuple(dict.fromkeys(one for form in of_forms for one in form)) if all(of_forms) else ()

    def near(self, known: Collection[str], costs: TokenCosts | None = None) -> tuple[RecognisedWay, ...]:
        """The ways to say other words that sound like a form, the closest ``MAX_NEAR``; none in another language."""
        ways = near_ways(self.forms) if self.language == ENGLISH else []
        return in_tokens(([phone.rstrip("012") for phone in way] for way in ways), known, costs)[:MAX_NEAR]

    def texts(self, kind: Kind, voices: dict[Split, list[Voice]], events: Events) -> _SpokenTexts:
        """The texts of each split for a kind of clips. Raises ``ConfigError`` for a list with too few texts."""
        if kind is Kind.POSITIVE:
            return {split: dict.fromkeys(self.forms, 0.0) for split in SHARES}
        if kind is Kind.NEGATIVE:
            if self.language != ENGLISH and self.plan.negative_texts == SynthesisConfig.negative_texts:
                common = other_words(self.language)
                return self._split(common, name_of_language(self.language), events, phrases=True)
            return self._listed(self.plan.negative_texts, events, phrases=True)
        if not self.plan.near_negative_texts:
            return self._generated(voices)
        return self._listed(self.plan.near_negative_texts, events, phrases=False)

    def _generated(self, voices: dict[Split, list[Voice]]) -> _SpokenTexts:
        """Close words of each form. None of them sounds like another form."""
        forms = self.forms
        texts: _SpokenTexts = {split: {} for split in SHARES}
        for form in forms:
            pool = confusables(form) if self.language == ENGLISH else foreign_confusables(form, self.language)
            for split, share in SHARES.items():
                if not voices[split]:
                    continue
                chosen = choose_texts(
                    speakable(pool, voices[split]), max(1, round(_DISTINCT * share / len(forms))), split=split
                )
                distances = {candidate.text: candidate.distance for candidate in chosen}
                kept = self._unlike(list(distances), [other for other in forms if other != form])
                texts[split] |= {text: distances[text] for text in kept}
        return texts

    def _listed(self, name: str, events: Events, *, phrases: bool) -> _SpokenTexts:
        """``_split`` of the texts of a list: one that ships with the package, or the user's own file."""
        path = Path(name) if name.endswith(".txt") else assets_folder("wakeword_tools") / "phrases" / f"{name}.txt"
        return self._split(read_texts(path), path.name, events, phrases=phrases)

    def _split(self, every: list[str], name: str, events: Events, *, phrases: bool) -> _SpokenTexts:
        """The texts that do not sound like the keyword; with ``phrases`` also running speech made of them."""
        listed = self._unlike(every, self.forms)
        foreign = self.language != ENGLISH
        by_split = foreign_splits(listed, self.language) if foreign else split_texts(self.keyword, listed)
        if len(by_split[Split.TRAIN]) + len(by_split[Split.VALIDATION]) < 2:
            raise ConfigError(
                f"{name}: expected two or more texts other than {self.keyword!r} that are not kept for the test, "
                f"got {listed[:5]}; write more"
            )
        if not by_split[Split.TRAIN]:
            by_split[Split.TRAIN].append(by_split[Split.VALIDATION].pop())
        if not by_split[Split.VALIDATION]:
            by_split[Split.VALIDATION].append(by_split[Split.TRAIN].pop())
        if by_split[Split.TEST]:
            events.note(f"{name}: {len(by_split[Split.TEST])} of {len(listed)} texts are kept for the test")
        texts: _SpokenTexts = {}
        for split in SHARES:
            chosen = by_split[split]
            if phrases:
                running = spoken_phrases(chosen, count=len(chosen) * _PHRASES_PER_TEXT, seed=self.seed)
                chosen = [*chosen, *self._unlike(running, self.forms)]
            texts[split] = dict.fromkeys(chosen)
        return texts

    def _unlike(self, texts: list[str], forms: list[str]) -> list[str]:
        for form in forms:
            foreign = self.language != ENGLISH
            texts = foreign_without(form, texts, self.language) if foreign else without_sound_of(form, texts)
        return texts
