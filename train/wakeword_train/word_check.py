"""What ``wakeword check`` says of a word, before a training makes anything."""

from collections.abc import Iterator

from wakeword.base.errors import ConfigError, SynthesisError
from wakeword.base.text import printable
from wakeword_tools.texts.advice import Grade, advise_in, is_guess, reasons
from wakeword_train.config import TrainConfig


def judge_words(config: TrainConfig, *, anyway: bool) -> Iterator[str]:
    """Lines about the keyword and the other phrases, where there is something to say.

    Raises ``ConfigError`` for one that makes a poor wake word, unless it is wanted ``anyway``.
    """
    for phrase in (config.keyword, *config.synthesis.also):
        try:
            advice = advise_in(config.language, phrase)
        except SynthesisError:
            continue  # recordings or IPA say it: check_synthesis has refused it otherwise
        if not config.synthesis.say and (line := is_guess(advice)):
            yield line
        if advice.grade is Grade.GOOD:
            continue
        judged = f"'{printable(phrase)}' is a {advice.grade} wake word: {'; '.join(reasons(advice))}"
        if advice.grade is Grade.POOR and not anyway:
            raise ConfigError(f"{judged}; take a longer one (`wakeword check` names some), or add --anyway")
        yield f"{judged}; `wakeword check` says more"
