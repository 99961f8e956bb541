"""Languages: their codes, the scripts they are written in, and the files of espeak-ng that read them."""

import difflib
import unicodedata
from functools import cache
from pathlib import Path

from wakeword.base.errors import ConfigError, SynthesisError
from wakeword.base.plugins import require
from wakeword.base.text import shortened

ENGLISH = "en"

_FILES = {"zh": "cmn-latn-pinyin", "cmn": "cmn-latn-pinyin", "yue": "yue-latn-jyutping", "no": "nb", "iw": "he"}
"""Codes that people use -> espeak-ng's file. The files for Chinese read characters, and syllables with their tones."""
_FAMILIES = {"cmn": "zh", "no": "nb", "iw": "he"}
"""Codes of one language -> the code that engines and word lists are known by."""
SCRIPTS: dict[str, tuple[str, ...]] = {
    "ARABIC": ("ar", "fa", "ur", "sd", "ug"),
    "CYRILLIC": ("ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "tt", "ba", "cv", "nog"),
    "DEVANAGARI": ("hi", "mr", "ne", "kok"),
    "BENGALI": ("bn", "as", "bpy"),
    **{"CJK": ("zh", "ja"), "HIRAGANA": ("ja",), "KATAKANA": ("ja",), "HANGUL": ("ko",), "GREEK": ("el", "grc")},
    **{"HEBREW": ("he",), "THAI": ("th",), "TAMIL": ("ta",), "TELUGU": ("te",), "GEORGIAN": ("ka",)},
    **{"ETHIOPIC": ("am", "ti"), "GUJARATI": ("gu",), "KANNADA": ("kn",), "MALAYALAM": ("ml",), "SINHALA": ("si",)},
    **{"GURMUKHI": ("pa",), "MYANMAR": ("my", "shn"), "ORIYA": ("or",), "CHEROKEE": ("chr",), "ARMENIAN": ("hy",)},
}
"""Script, as Unicode names it -> languages that are written in it."""
_MIXED_SCRIPTS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
"""Scripts that are written in one word."""


def espeak_data() -> Path:
    """The folder of espeak-ng's data. ``SynthesisError`` if it is not installed."""
    require("tools", "espeakng_loader", error=SynthesisError)
    import espeakng_loader

    return Path(espeakng_loader.get_data_path())


@cache
def language_files() -> dict[str, Path]:
    """Every language of espeak-ng, its name in lower case -> the file that describes it."""
    folder = espeak_data() / "lang"
    return {path.name.lower(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def language_named(code: str) -> str:
    """A language as it is written everywhere else: ``de``, ``pt-br``, ``zh``; every English is ``en``.

    Raises ``ConfigError`` for a code that espeak-ng does not have.
    """
    wanted = code.strip().lower().replace("_", "-")
    if wanted == ENGLISH or wanted.startswith(f"{ENGLISH}-"):
        return ENGLISH
    wanted = _FAMILIES.get(wanted, wanted)
    known = [name for name in {*language_files(), *_FILES} if not name.startswith(ENGLISH)]
    if wanted in known:
        return wanted
    if (wide := wanted.partition("-")[0]) in known:
        return _FAMILIES.get(wide, wide)
    shortest = [name for name in sorted(known) if "-" not in name and name not in _FAMILIES]
    named = [name for name in shortest if name_of_language(name).lower() == wanted]
    close = named or difflib.get_close_matches(wanted, sorted(known), 3)
    raise ConfigError(
        f"expected the code of a language that espeak-ng speaks, such as de, ar, zh or pt-br, got {shortened(repr(code))}"
        + (f"; did you mean {' or '.join(close)}?" if close else "; en is the default")
    )


def family_of(language: str) -> str:
    """The language without its region: ``pt`` of ``pt-br``."""
    wide = language.lower().partition("-")[0]
    return _FAMILIES.get(wide, wide)


def accents_of(language: str) -> list[str]:
    """espeak-ng's accents of a language; the first one is the usual one."""
    usual = _FILES.get(language, language)
    if "-" in language or usual != language:
        return [usual]
    others = [name for name in language_files() if name.startswith(f"{language}-") and "latn" not in name]
    return [usual, *others]


def name_of_language(language: str) -> str:
    """Its English name, such as ``German``."""
    if language == ENGLISH:
        return "English"
    for line in language_files()[accents_of(language)[0]].read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("name "):
            return line.removeprefix("name ").split(" (")[0].strip()
    return language


def scripts_of(text: str) -> list[str]:
    """The scripts of the letters of a text, as Unicode names them: ``LATIN``, ``ARABIC``, ``CJK``."""
    return list(dict.fromkeys(script for one in text.partition("[[")[0] if (script := _script_of(one))))


@cache
def _script_of(letter: str) -> str:
    """The script of a letter; empty for marks and all else."""
    if unicodedata.category(letter) not in ("Ll", "Lu", "Lo", "Lt"):
        return ""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return "LATIN" if script in ("FULLWIDTH", "FEMININE", "MASCULINE") else script


def require_unicode(text: str) -> None:
    """Raise ``ConfigError`` for bytes that are not UTF-8, which Python keeps as surrogates: no engine reads them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"expected text in UTF-8, got {shortened(repr(text))}; write it in UTF-8") from error


def require_one_script(text: str) -> None:
    """Raise ``ConfigError`` for a text in several scripts, as an engine would read one only, or not in UTF-8."""
    require_unicode(text)
    scripts = scripts_of(text)
    if len(scripts) > 1 and not set(scripts) <= _MIXED_SCRIPTS:
        raise ConfigError(
            f"expected a wake word in one script, got {shortened(repr(text))} in {' and '.join(map(_spelt, scripts))}; "
            "write all of it in one, as it sounds"
        )


def require_language(text: str, language: str | None) -> str:
    """The language of a wake word: the one that is given, or English.

    Raises ``ConfigError`` for an unknown code, for several scripts, and for another script than Latin where no language
    is given.
    """
    found = ENGLISH if language is None else language_named(language)
    require_one_script(text)
    script = next((one for one in scripts_of(text) if one != "LATIN"), None)
    if found == ENGLISH and script is not None:
        codes = SCRIPTS.get(script, ("CODE",))[:3]
        raise ConfigError(
            f"{shortened(repr(text))} is written in {_spelt(script)} letters, which English does not read; tell "
            f"which language it is: {' or '.join(f'--language {code}' for code in codes)}"
        )
    return found


def _spelt(script: str) -> str:
    return "Chinese" if script == "CJK" else script.title()
