"""The recipe of ``wakeword train WORD``, and what it will do, in words."""

from collections.abc import Iterator
from itertools import chain

from wakeword.base.text import counted
from wakeword.model.installed import assets_folder
from wakeword_tools.engines.registry import resolved_engines
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.pack.starter import pack_path, read_pack
from wakeword_train.spoken_texts import SHARES
from wakeword_train.training_run import DataFolders, Phase


def default_recipe() -> TrainConfig:
    """The settings of ``assets/configs/default.toml``, with which a word is trained if no others are given."""
    return read_config(assets_folder("wakeword_train") / "configs" / "default.toml")


def phases_of(config: TrainConfig) -> list[Phase]:
    """What a run will do, in order."""
    second = (Phase.LISTENING, Phase.SECOND, Phase.MEASURING) if config.second_stage.enabled else ()
    spoken = (phase for phase, number, engines, _ in _speech(config) if number and engines)
    return [*spoken, Phase.READING, Phase.FIRST, *second]


def lacks_natural_voices(config: TrainConfig) -> bool:
    """Whether a run asks for natural voices, and this machine has none."""
    return any(number and not engines for phase, number, engines, _ in _speech(config) if phase is Phase.NATURAL)


def _speech(config: TrainConfig) -> Iterator[tuple[Phase, int, list[str], str]]:
    """Both kinds of speech: how many clips are asked for, by which engines of this machine, in which voices."""
    plan, kinds = config.synthesis, (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE)
    for phase, counts, natural, voices in (
        (Phase.SPEECH, plan, False, "voices"),
        (Phase.NATURAL, plan.natural, True, "natural voices"),
    ):
        engines = resolved_engines(counts.engines, natural=natural)
        number = round(sum(getattr(counts, kind.plural) for kind in kinds) * sum(SHARES.values()))
        yield phase, number, list(engines), voices


def describe_plan(config: TrainConfig, folders: DataFolders) -> Iterator[str]:
    """Lines about what a run will do."""
    texts = " or ".join(f"'{text}'" for text in (config.keyword, *config.synthesis.also))
    steps = counted(len(phases_of(config)), "step")
    yield f"training {texts} in {steps}; with default settings it takes some ten minutes on two cores"
    for _, number, engines, voices in _speech(config):
        if number and engines:
            names = ", ".join(engine.partition(":")[0] for engine in engines)
            yield f"{number} clips by {voices} of {names}: the word, words that sound like it, and others"
    if config.starter_pack:
        pack = read_pack(pack_path(config.starter_pack))
        yield f"{pack.hours:.1f} h of speech of {len(pack.people)} people, as features, to stay silent at"
    given = chain([folders.speech_commands], *folders.by_kind.values())
    own = [folder for folder in given if folder is not None and folder.is_dir()]
    if own:
        yield f"your own recordings in {', '.join(str(folder) for folder in own)}"
