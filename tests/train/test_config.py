"""A configuration is read as written, or refused with the name of the wrong setting."""

from pathlib import Path

import pytest

from wakeword.base.errors import ConfigError
from wakeword.model.installed import assets_folder
from wakeword_train.config import TrainConfig, read_config


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    assert read_config(write(tmp_path, "")) == TrainConfig()


def test_values_are_set(tmp_path: Path) -> None:
    config = read_config(
        write(tmp_path, 'keyword = "seven"\n[network]\nhidden_size = 32\n[schedule]\nlearning_rate = 1\n')
    )
    assert (config.keyword, config.network.hidden_size, config.schedule.learning_rate) == ("seven", 32, 1.0)


def test_a_window_that_the_stack_divides_is_taken(tmp_path: Path) -> None:
    network = read_config(write(tmp_path, "[network]\nwindow = 98\nstack = 2")).network
    assert (network.window, network.stack) == (98, 2)


def test_a_table_within_a_table_is_read(tmp_path: Path) -> None:
    text = '[synthesis]\npositives = 3\n[synthesis.natural]\nnear_negatives = 7\nengines = ["kokoro:here"]\n'
    plan = read_config(write(tmp_path, text)).synthesis
    assert (plan.positives, plan.natural.positives, plan.natural.near_negatives) == (3, 0, 7)
    assert (plan.engines, plan.natural.engines) == (("espeak-ng",), ("kokoro:here",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("keywrd = 'x'", "keywrd"),
        ("[network]\nhidden = 3", "network.hidden"),
        ("[network]\nhidden_size = 'big'", "network.hidden_size"),
        ("[network]\nhidden_size = true", "network.hidden_size"),
        ("[network]\nstem = -1", "stem, a whole number of 0"),
        ("network = 3", "network"),
        ("method = 'magic'", "magic"),
        ("background_folds = 1", "background_folds of 2 or more, or 0"),
        ("background_folds = -2", "background_folds of 2 or more, or 0"),
        ("[network]\npooling = 'sum'", "sum"),
        ("[adversary]\nradius = -1.0", "radius"),
        ("[schedule]\nchoose_after = 1.0", "choose_after"),
        ("split = 'random'", "random"),
        ("[network]\nstack = 3", "stack"),
        ("[network]\nstack = 7", "stack"),
        ("[network]\nwindow = 98", "stack"),
        ("[network]\nwindow = 4", "window"),
        ("[mining]\nplaces = 0", "places"),
        ("validation_share = 0.5\ntest_share = 0.5", "test_share"),
        ("[augmentation]\nreverb_seconds = 0.0", "reverb_seconds"),
        ("[augmentation]\nreverb_ratio = -20.0", "reverb_ratio"),
        ("[augmentation]\nreverb_ratio = inf", "reverb_ratio"),
        ("[augmentation]\nreverb_damping = 1.0", "reverb_damping"),
        ("[synthesis]\npositives = -5", "-5"),
        ("[synthesis]\nnear_negatives = -5", "near_negatives, a whole number of 0"),
        ("[synthesis.natural]\nnegatives = -5", "negatives, a whole number of 0"),
        ("[synthesis.natural]\ntexts = 'x'", "synthesis.natural.texts"),
        ("not toml", "TOML"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        read_config(write(tmp_path, text))


def test_a_file_changes_its_base_table_by_table(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("seed = 3\n[network]\nhidden_size = 32\nstem = 16\n")
    config = read_config(write(tmp_path, 'base = "base.toml"\nlicence = "MIT"\n[network]\nstem = 8\n'))
    assert (config.seed, config.licence, config.network.hidden_size, config.network.stem) == (3, "MIT", 32, 8)


@pytest.mark.parametrize("base", ['"config.toml"', "3", '"absent.toml"', '"nested.toml"', '"a\\u0000b"'])
def test_a_base_that_is_none_is_named(tmp_path: Path, base: str) -> None:
    (tmp_path / "nested.toml").write_text('base = "config.toml"')
    with pytest.raises(ConfigError, match=r"expected (base to be the name|a training configuration|TOML)"):
        read_config(write(tmp_path, f"base = {base}"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        read_config(tmp_path / "absent.toml")


def test_shipped_configurations_are_valid() -> None:
    paths = sorted((assets_folder("wakeword_train") / "configs").glob("*.toml"))
    assert paths
    assert all(read_config(path).keyword in (path.stem, "") for path in paths)


@pytest.mark.parametrize("settings", [{"keyword": "a\nb"}, {"keyword": "a" * 201}, {"licence": "\x1b[2J"}])
def test_what_no_card_can_hold_is_refused_before_training(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="up to 200 printable characters"):
        TrainConfig(**settings)
