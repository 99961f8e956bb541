"""How the clips of a set were synthesised, according to its manifest."""

from wakeword.base.errors import DataError, SynthesisError
from wakeword_tools.clips.manifest import Row
from wakeword_tools.clips.plan import Recipe
from wakeword_tools.engines.espeak import ESPEAK, espeak_voices
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.engines.registry import engine_named
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice


def recipe_of(row: Row) -> Recipe:
    """The recipe of a clip. ``DataError`` if its row does not hold one or names an unknown voice."""
    content = row.content
    try:
        return Recipe(
            text=row.text,
            voice=_voice(row),
            prosody=Prosody(**content["prosody"]),
            pause_before=content["pause_before"],
            pause_after=content["pause_after"],
            formants=content.get("formants", 1.0),
            carrier=content.get("carrier", "{}"),
        )
    except (ValueError, KeyError, TypeError, SynthesisError) as error:
        raise DataError(f"{row.place}: expected how a clip was synthesised ({error})") from error


def voice_named(name: str) -> Voice:
    """The English voice of espeak-ng of that name. Raises ``SynthesisError`` if there is none."""
    found = next((voice for voice in espeak_voices() if voice.name == name), None)
    if found is None:
        raise SynthesisError(f"expected the name of a voice such as 'espeak-ng:en-GB-x-rp+f3', got {name!r}")
    return found


def _voice(row: Row) -> Voice:
    """The voice with this name if it is espeak-ng's, otherwise the voice that the row describes."""
    content = row.content
    language = content.get("language", ENGLISH)
    engine_named(content["engine"])  # an unknown one is refused
    if "locator" not in content or (language == ENGLISH and content["engine"] == ESPEAK):
        return voice_named(content["voice"])
    fields = {name: content[name] for name in ("engine", "accent", "variant", "licence", "locator")}
    return Voice(content["voice"], source=row.source, split=row.split, language=language, **fields)
