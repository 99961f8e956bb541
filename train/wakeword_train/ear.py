"""The recogniser that hears the words that users train or make from a text, and what thresholds for it are made from.

The package wakeword-ear has one that hears more people than the included one, at two to three times the cost
(train/evidence/results/recognisers-ear.md). English taught it. Both have the same tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.model.installed import assets_folder
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword.verify.shared import PHONEMES_FILE, ear_folder, file_digest, load_phonemes
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, token_costs
from wakeword_train.pack.speech_pack import STARTER, SUFFIX, HeardPack, pack_path, read_heard
from wakeword_train.text_alone import FILE, TextAlone, text_alone


@dataclass(frozen=True)
class TextEar:
    """Holds a recogniser and what belongs to it."""

    folder: Path | None
    """The folder of wakeword-ear; ``None`` for what is included."""

    @property
    def path(self) -> Path:
        """The recogniser's file."""
        return (self.folder or assets_folder() / "encoders") / PHONEMES_FILE

    @cached_property
    def digest(self) -> str:
        """The name of the recogniser in a card."""
        return file_digest(self.path)

    @property
    def network(self) -> PhonemeNetwork:
        """The recogniser, loaded once in a process."""
        return load_phonemes(self.path, self.digest)

    @property
    def costs(self) -> Mapping[str, Mapping[str, float]]:
        """What its tokens cost: see ``token_costs``."""
        return token_costs(self.folder and self.folder / CONFUSIONS_FILE)

    @property
    def people(self) -> TextAlone:
        """What words find with it."""
        return text_alone(self.folder and self.folder / FILE)

    def pack_path(self, name: str) -> Path:
        """The file of what it hears in speech, or in noise and music."""
        return self.folder / f"{name}{SUFFIX}" if self.folder else pack_path(name)

    def pack(self, name: str) -> HeardPack:
        """What it hears. ``DataError`` for a pack that another recogniser heard."""
        return _heard(self.pack_path(name), self.digest)


@cache
def ear_of(language: str) -> TextEar:
    """What hears words of a language."""
    return TextEar(ear_folder() if language == ENGLISH else None)


def ear_beside(pack: HeardPack | None, language: str) -> TextEar:
    """What hears words of a language that are trained with a pack: a pack of one's own was heard by the included one."""
    ear = ear_of(language)
    known = pack is None or ear.folder is None or ear.pack(STARTER).recordings == pack.recordings
    return ear if known else TextEar(None)


def ear_of_digest(digest: str | None) -> TextEar:
    """The recogniser that a card names; the included one for any that is not here."""
    own = TextEar(ear_folder())
    return own if own.folder is not None and own.digest == digest else TextEar(None)


@cache
def _heard(path: Path, digest: str) -> HeardPack:
    pack = read_heard(path)
    if pack.phonemes_digest != digest:
        raise DataError(f"{path}: expected what the recogniser {digest[:16]} hears, got another's; make it again")
    return pack
