"""The recipe of ``wakeword train WORD``, and what it will do, in words."""

from collections.abc import Iterator

from wakeword.model.installed import assets_folder
from wakeword_tools.engines.registry import resolved_engines
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.pack.speech_pack import pack_path, read_pack
from wakeword_train.spoken_texts import SHARES
from wakeword_train.time_left import in_words
from wakeword_train.training_run import DataFolders


def default_recipe() -> TrainConfig:
    """The settings of ``assets/configs/default.toml``, with which a word is trained if no others are given."""
    return read_config(assets_folder() / "configs" / "default.toml")


def describe_plan(config: TrainConfig, folders: DataFolders, seconds: float) -> Iterator[str]:
    """Lines about what a run will do, and how long it will take."""
    plan = config.synthesis
    phrases = " or ".join(f"'{phrase}'" for phrase in (config.keyword, *plan.also))
    yield f"training {phrases}: about {in_words(seconds)} on this machine as busy as it is now"
    kinds = (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE)
    for counts, engines, what in (
        (plan, resolved_engines(plan.engines, natural=False), "voices"),
        (plan.natural, resolved_engines(plan.natural.engines, natural=True), "natural voices"),
    ):
        number = round(sum(getattr(counts, kind.plural) for kind in kinds) * sum(SHARES.values()))
        if number and engines:
            names = ", ".join(engine.partition(":")[0] for engine in engines)
            yield f"{number} clips by {what} of {names}: the word, words that sound like it, and others"
    if config.starter_pack:
        pack = read_pack(pack_path(config.starter_pack))
        yield f"{pack.hours:.1f} h of speech of {len(pack.people)} people, as features, to stay silent at"
    given = (*folders.positives, *folders.negatives, *folders.near_negatives, *folders.background, *folders.noise)
    own = [folder for folder in (folders.speech_commands, *given) if folder is not None and folder.is_dir()]
    if own:
        yield f"your own recordings in {', '.join(str(folder) for folder in own)}"
