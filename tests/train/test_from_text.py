"""Laws of a model that is made from its text, without training."""

import dataclasses
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import ConfigError, Detector, DetectorPool, Model, ModelError, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.features import MfccTransform
from wakeword.audio.history import SamplesOf
from wakeword.base.types import Array, Scores
from wakeword.format.card import DEFAULT_HOP
from wakeword.format.point_warnings import SUPPORTED, is_supported
from wakeword.format.verifier_card import FLOOR, fused_score
from wakeword.model.first_stage import FirstStage, WindowLogit
from wakeword.model.installed import assets_folder
from wakeword.model.lstm import Lstm
from wakeword.model.model import parse_model, read_model
from wakeword.stream.keyword import KeywordTracker
from wakeword.verify.embedding import EmbeddingNetwork, EmbeddingStream
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, KeywordPhonemes, PhonemeNetwork, PhonemeVerifier
from wakeword.verify.quick_phonemes import QuickSearch
from wakeword.verify.verifier import AmplifiedSound, StreamSound
from wakeword.verify.verifier_head import Head
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.measure.intervals import most_events
from wakeword_tools.measure.scores import RecordingScorer, events_at, stream_scores
from wakeword_tools.texts.recogniser import in_tokens, recogniser_variants
from wakeword_train import from_text, model_from_text
from wakeword_train.ear import ear_of, text_alone
from wakeword_train.from_text import typed_model
from wakeword_train.pack.starter import PackedRecording, Phonemes, RecognisedPack
from wakeword_train.points import require_trained
from wakeword_train.report.verdict import verdict
from wakeword_train.spoken_texts import MAX_NEAR, SpokenKeyword
from wakeword_train.train_options import TrainOptions
from wakeword_train.typed_points import FUSION, MAX_FIT, MIN_FIT, MIN_FIT_ALONE, pack_fits

WORD = "computer"
TOKENS = ["<blank>", "<wb>", "a", "b", "c"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_from_text(WORD, tmp_path_factory.mktemp("typed") / "computer.onnx")


@pytest.fixture(scope="module")
def sentences() -> Array:
    return read_audio(assets_folder() / "audio" / "sentences.flac")


def fit_of(threshold: float) -> float:
    """The fit of the phonemes at which a score reaches a threshold."""
    return float((np.log(threshold / (1 - threshold)) - FUSION.bias) / FUSION.phonemes)


def test_the_file_is_an_ordinary_model_and_always_the_same_without_torch(made: Path, tmp_path: Path) -> None:
    model = read_model(made)
    assert model.card.phrase == WORD
    assert model.second_stage is not None  # its self-test holds
    assert model.lstm is not None  # the first stage costs next to nothing
    assert is_supported(model.card.point())
    code = (
        "import sys; from wakeword_train import model_from_text; "
        f"model_from_text({WORD!r}, {str(tmp_path / 'again.onnx')!r}); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert (tmp_path / "again.onnx").read_bytes() == made.read_bytes()


def test_its_first_stage_which_hears_nothing_does_not_run_alone(made: Path) -> None:
    with pytest.raises(ConfigError, match="made from its text and has nothing else; run it as it is"):
        Detector(made, verify=False)


def test_the_word_is_found_and_what_sounds_like_it_is_not(made: Path, sentences: Array) -> None:
    """ "Commuter" and "competitors" are said too, by voices that sound human."""
    said = json.loads((assets_folder() / "audio" / "sentences.json").read_text())["sentences"]
    detector = Detector(made)
    ends = [one.end for one in (*detector.push(sentences), *detector.flush())]
    places = [[one["start"] <= end <= one["end"] + 1 for end in ends] for one in said if one["keyword"] == WORD]
    assert len(places) == len(ends) == 3
    assert np.array(places).any(axis=0).all()
    assert np.array(places).any(axis=1).all()


def test_streaming_finds_what_the_whole_recording_has(made: Path, sentences: Array) -> None:
    samples = sentences[8 * 16_000 : 12 * 16_000]
    whole = stream_scores(read_model(made), samples)
    detector, found = Detector(made), []
    for start in range(0, len(samples), 777):
        detector.push(samples[start : start + 777])
        found.append(detector.scores[WORD])
    assert whole.max() > 0.9
    assert set(np.unique(found)) - {0.0} <= set(whole.tolist())


def test_a_word_with_which_a_recording_ends_is_found(made: Path, sentences: Array) -> None:
    """The quick recogniser hears it later than its last sample."""
    said = json.loads((assets_folder() / "audio" / "sentences.json").read_text())["sentences"]
    one = next(one for one in said if one["text"] == "Thank you, computer.")
    samples = sentences[round(16_000 * one["start"]) : round(16_000 * one["end"])]
    samples = samples[: np.flatnonzero(np.abs(samples) > 0.02)[-1]]
    detector = Detector(made)
    found = [*detector.push(samples), *detector.flush()]
    assert len(found) == 1
    assert found[0].end <= len(samples) / 16_000
    assert stream_scores(read_model(made), samples).max() >= found[0].score - 1e-6
    pool = DetectorPool(made)
    stream = pool.open()
    stream.push(samples)
    stream.flush()
    assert [one.score for _, one in pool.process()] == [found[0].score]


def test_steady_quiet_is_slept_through(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    listens = EmbeddingStream.newest

    def counted(self: EmbeddingStream, frame: int, count: int, samples_of: SamplesOf) -> Array:
        heard.append(frame)
        return listens(self, frame, count, samples_of)

    monkeypatch.setattr(EmbeddingStream, "newest", counted)
    detector = Detector(made)
    detector.push(np.zeros(5 * 16_000, np.float32))
    begun = len(heard)
    detector.push(np.zeros(20 * 16_000, np.float32))
    assert 0 < begun < 12
    assert len(heard) == begun


def test_two_windows_share_what_is_heard_and_no_embedding_is_asked(
    made: Path, sentences: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: Any) -> Any:
        raise AssertionError("the head does not count, and was asked")

    stage = read_model(made).second_stage
    assert stage is not None
    monkeypatch.setattr(Head, "__call__", asked)
    monkeypatch.setattr(EmbeddingNetwork, "advance", asked)
    heard: list[int] = []
    network = AmplifiedSound.log_probabilities

    def noted(self: AmplifiedSound, recogniser: PhonemeNetwork, end: int) -> Array:
        if stage.phonemes is not None and recogniser is stage.phonemes.network:
            heard.append(end)
        return network(self, recogniser, end)

    monkeypatch.setattr(AmplifiedSound, "log_probabilities", noted)
    sound = StreamSound(lambda first, last: sentences[first:last]).at(1)
    ends = [160_240 + 2_560 * number for number in range(4)]
    for end in ends:
        stage.score(1.0, end, sound)
    step = stage.card.phoneme_step * 160
    assert heard == sorted({end - end % step for end in ends})
    assert len(heard) < len(ends)


def test_a_first_stage_that_hears_nothing_is_not_asked(
    made: Path, sentences: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would have said, window by window, is said at once, in the company of a word that does hear."""
    samples = np.concatenate([sentences[: 3 * 16_000], 0.003 * sentences[: 3 * 16_000]])
    model, trained = read_model(made), load_model("marvin")

    def read(models: list[Model]) -> list[list[WindowLogit]]:
        stage = FirstStage(models, hop=DEFAULT_HOP)
        ends = range(7_000, len(samples), 30_011)
        pieces = [stage.read(lambda first, last: samples[first:last], end) for end in (*ends, len(samples))]
        return [[one for piece in pieces for one in piece[number]] for number in range(len(models))]

    alone = read([trained])
    together = read([trained, model])
    monkeypatch.setattr(Lstm, "constant", None)
    assert read([model, trained]) == together[::-1]
    assert together[0] == alone[0]
    assert {gain for _, gain in together[1]} == {1.0, 10.0, 100.0}
    monkeypatch.undo()
    monkeypatch.setattr(MfccTransform, "__call__", None)
    assert read([model]) == [together[1]]


def test_words_that_listen_together_ask_the_quick_recogniser_once(
    made: Path, sentences: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [read_model(made), read_model(model_from_text("hey zorvella", tmp_path / "zorvella.onnx"))]
    samples = sentences[8 * 16_000 : 14 * 16_000]
    searched: list[list[float]] = []
    fits = QuickSearch.fits

    def noted(self: QuickSearch, steps: Array) -> list[float]:
        searched.append(fits(self, steps))
        return searched[-1]

    monkeypatch.setattr(QuickSearch, "fits", noted)
    alone = [stream_scores(model, samples) for model in models]
    once = len(searched) // 2
    together = RecordingScorer(models).score([samples])
    assert all(map(np.array_equal, alone, together))
    of_both = searched[2 * once :]
    gains = 3
    assert len(of_both) <= once + 8 * gains  # before the second word is known
    assert sum(len(found) == 2 for found in of_both) <= once


@given(looks=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=9), first=st.integers(0, 8))
def test_the_recogniser_is_asked_where_the_word_is_heard_and_twice_more_if_it_found_anything(
    made: Path, looks: list[tuple[bool, bool]], first: int
) -> None:
    """Whatever was asked before: a look depends on samples alone, also where reading began at one of them."""
    stage = read_model(made).second_stage
    assert stage is not None
    step, lowest = stage.card.phoneme_step * 160, -stage.card.fusion.phoneme_floor
    gate = stage.card.quick_gate
    heard, found = ({step * (1 + at): looks[at][of] for at in range(len(looks))} for of in (0, 1))
    asked: list[int] = []

    def fit(verifier: PhonemeVerifier, end: int) -> float:
        asked.append(end)
        return lowest + 1 if found[end] else lowest - 1

    sound = AmplifiedSound(lambda start, end: np.zeros(end - start, np.float32), 1.0)
    with (
        patch.object(sound, "quick_fit", lambda word, end: gate if heard[end] else gate - 0.1),
        patch.object(sound, "fit", fit),
    ):
        for end in list(heard)[first:]:
            asked.clear()
            score = stage.score(1.0, end, sound)
            before = [at for at in (end - 2 * step, end - step) if at > 0 and heard[at] and found[at]]
            assert (end in asked) == (heard[end] or bool(before))
            assert all(heard[at] for at in asked if at < end)
            assert score == pytest.approx(fused_score(5 + 5 * (lowest + (end in asked and found[end]))))


def fits_in_pack(model: Model, name: str, forms: Sequence[str]) -> list[Scores]:
    """How well a model's word fits in what both recognisers heard in a pack."""
    stage, ear = model.second_stage, ear_of("en")
    assert stage is not None
    assert stage.phonemes is not None
    opinion = ear.opinion.pack(name) if ear.opinion else None
    tokens = stage.phonemes.network.tokens
    return [np.exp(one) for one in pack_fits(ear.pack(name), forms, stage.phonemes.keyword, tokens, opinion)]


def test_each_point_keeps_its_rate_in_the_pack(tmp_path: Path) -> None:
    """Speech is full enough of what sounds like "alexa"."""
    model = read_model(model_from_text("alexa", tmp_path / "alexa.onnx"))
    card = model.card
    points = card.operating_points
    assert [point.target for point in points] == sorted(point.target for point in points)
    assert all(one.threshold > other.threshold for one, other in itertools.pairwise(points))
    streams = fits_in_pack(model, "starter", ["alexa"])
    lowest = MIN_FIT if ear_of("en").opinion else MIN_FIT_ALONE
    assert any(point.false_accepts_per_hour and point.false_accepts_per_hour.count for point in points)
    for point in points:
        rate = point.false_accepts_per_hour
        assert rate is not None
        allowed = most_events(rate.trials, point.target, confidence=SUPPORTED)
        assert allowed is not None
        fit = fit_of(point.threshold)
        assert lowest - 1e-6 <= fit <= MAX_FIT + 1e-6
        assert events_at(streams, float(np.exp(fit)), hop=50) == rate.count <= allowed


@pytest.fixture
def packed() -> Iterator[tuple[RecognisedPack, KeywordPhonemes]]:
    """Eight seconds in which "abc" is heard twice, once by someone who says the word."""
    tokens = np.zeros(400, np.uint8)
    tokens[50:53], tokens[300:303] = (2, 3, 4), (2, 3, 4)
    phonemes = Phonemes(np.arange(401), tokens, np.zeros(400, np.uint8))
    recordings = (PackedRecording("some-1", "1", 800, ((5.5, 6.5, "say abc now"),)),)
    pack = RecognisedPack(
        path=Path("x.pack"), recordings=recordings, licence="", phonemes=phonemes, phonemes_digest="", digest=""
    )
    return pack, KeywordPhonemes(((("a",), ("b",), ("c",)),), TOKENS)


def test_what_the_pack_heard_counts_apart_from_who_says_the_word(
    packed: tuple[RecognisedPack, KeywordPhonemes],
) -> None:
    pack, keyword = packed
    (whole,) = pack_fits(pack, ["other"], keyword, TOKENS)
    assert len(whole) == 16
    assert np.flatnonzero(whole == 0).tolist() == [2, 3, 4, 5, 12, 13, 14, 15]
    without = np.concatenate(pack_fits(pack, ["abc"], keyword, TOKENS))
    assert (without == 0).sum() == 4


def test_a_second_opinion_of_the_same_changes_nothing_and_of_silence_leaves_less(
    packed: tuple[RecognisedPack, KeywordPhonemes],
) -> None:
    pack, keyword = packed
    silence = dataclasses.replace(pack, phonemes=dataclasses.replace(pack.phonemes, tokens=np.zeros(400, np.uint8)))
    (alone,) = pack_fits(pack, ["other"], keyword, TOKENS)
    same, less = (pack_fits(pack, ["other"], keyword, TOKENS, other)[0] for other in (pack, silence))
    found = alone > MIN_FIT
    np.testing.assert_allclose(same[found], alone[found], atol=1e-6)
    assert (less[found] < alone[found]).all()
    assert (less <= same).all()


def test_near_words_are_others_than_the_word_and_keep_their_speech_from_it(sentences: Array, tmp_path: Path) -> None:
    """ "Computer" fits "commuter" well, and is told from it by what fits better."""
    made = model_from_text("commuter", tmp_path / "commuter.onnx")
    verifier, stage = read_model(made).card.verifier, read_model(made).second_stage
    assert verifier is not None
    assert stage is not None
    assert stage.phonemes is not None
    tokens, costs = stage.phonemes.network.tokens, ear_of("en").costs
    assert 30 < len(verifier.near) <= MAX_NEAR
    assert not {way.variant for way in recogniser_variants("commuter", tokens, costs)} & set(verifier.near)
    assert {way.variant for way in in_tokens([["K", "AH", "M", "P", "Y", "UW", "T", "ER"]], tokens, costs)} <= set(
        verifier.near
    )
    said = json.loads((assets_folder() / "audio" / "sentences.json").read_text())["sentences"]
    one = next(one for one in said if one["text"] == "Thank you, computer.")
    samples = sentences[round(16_000 * one["start"]) : round(16_000 * one["end"])]
    always = dataclasses.replace(verifier, quick_digest=None, quick_gate=0.0)
    alone = dataclasses.replace(always, near=(), near_losses=())
    found, plain = (
        stream_scores(
            parse_model(embed_card(made.read_bytes(), dataclasses.replace(read_model(made).card, verifier=one))),
            samples,
        )
        for one in (always, alone)
    )
    lowest = fused_score(FUSION.bias + FUSION.phonemes * MIN_FIT)
    assert (found >= lowest).sum() < (plain >= lowest).sum()
    np.testing.assert_array_equal(found[found > FLOOR], plain[found > FLOOR])


def test_many_looks_at_once_fit_as_each_alone() -> None:
    random = np.random.default_rng(0)
    keyword = KeywordPhonemes(
        ((("a",), ("b", "c")), (("c",), ("c",), ("a",))), TOKENS, (((0.0,), (0.0, 2.0)), ((0.0,),) * 3)
    )
    looks = random.normal(size=(5, 30, len(TOKENS))).astype(np.float32)
    looks -= looks.max(axis=2, keepdims=True)
    states = np.stack([keyword.of_states(look) for look in looks]).astype(np.float64)
    together = keyword.fits((states[:, frame] for frame in range(30)), (5,))
    assert together.tolist() == [keyword.score(look) for look in looks]
    assert (keyword.at_most(states.max(axis=1)) >= together).all()


def test_no_point_fires_more_than_once_an_hour_in_the_noise_and_music_of_the_pack(made: Path) -> None:
    model = read_model(made)
    noise = fits_in_pack(model, "noise", ())
    events = [events_at(noise, np.exp(fit_of(one.threshold)), hop=50) for one in model.card.operating_points]
    assert max(events) <= 1
    assert f"noise and music, {events[0]} in 0.98 h" in model.card.operating_points[0].data


def test_the_recogniser_is_asked_where_the_quick_one_hears_the_word_and_the_word_is_found_all_the_same(
    made: Path, sentences: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    network = PhonemeNetwork.log_probabilities

    def counted(self: PhonemeNetwork, samples: Array) -> Array:
        asked.append(len(samples))
        return network(self, samples)

    monkeypatch.setattr(PhonemeNetwork, "log_probabilities", counted)
    model = read_model(made)
    assert model.card.verifier is not None
    always = dataclasses.replace(model.card.verifier, quick_digest=None, quick_gate=0.0)
    scores, counts = [], []
    for one in (model, parse_model(embed_card(made.read_bytes(), dataclasses.replace(model.card, verifier=always)))):
        asked.clear()
        scores.append(stream_scores(one, sentences))
        counts.append(len(asked))
    assert 0 < 3 * counts[0] < counts[1]
    quick, every = scores[0][: len(scores[1])], scores[1]  # after the end it listens on
    threshold = model.card.point().threshold
    # Windows that are nearer to each other than a look is long are one report.
    apart = [np.diff(np.flatnonzero(one >= threshold)) * DEFAULT_HOP * 160 > PHONEME_SAMPLES for one in scores]
    assert [1 + np.count_nonzero(one) for one in apart] == [3, 3]
    assert ((quick == every) | (quick < threshold)).all()


def test_a_word_that_speech_is_full_of_is_refused_or_told() -> None:
    with pytest.raises(ConfigError, match="is a poor wake word: 3 phonemes, 1 syllable"):
        model_from_text("walk")
    with pytest.raises(ConfigError, match=r"up to 8 words .*, got 9 words"):
        model_from_text("a b c d e f g h i")
    with pytest.raises(
        ConfigError, match=r"at most 22 phonemes, which are said in the 2 s .*, got 2\d; take a shorter phrase"
    ):
        model_from_text("travis and harvey went to the market")
    with pytest.raises(ConfigError, match="--language ar"):
        model_from_text("مرحبا")
    with pytest.raises(ConfigError, match="got an empty text; for instance: hey zorvella"):
        model_from_text(" ")


def test_a_kept_model_is_made_again_only_for_another_recogniser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path
) -> None:
    asked: list[SpokenKeyword] = []

    def counted(spoken: SpokenKeyword) -> bytes:
        asked.append(spoken)
        return made.read_bytes()

    monkeypatch.setattr(from_text, "model_of_text", counted)
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    path = typed_model(WORD)
    assert path.parent == tmp_path / "typed"
    assert path.read_bytes() == made.read_bytes()
    assert len(asked) == 1
    assert typed_model(WORD) == path
    assert len(asked) == 1
    path.write_bytes(b"damaged")
    with pytest.raises(ModelError):
        read_model(path)
    assert typed_model(WORD).read_bytes() == made.read_bytes()
    assert len(asked) == 2


def test_kept_models_of_other_requests_are_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the files hold: none is made."""
    monkeypatch.setattr(from_text, "model_of_text", lambda spoken: b"")
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    asked = [model_from_text(WORD), model_from_text(WORD.title()), model_from_text(WORD, also=["jarvis"])]
    asked.append(model_from_text(WORD, say=["dʒˈɑɹvɪs"]))
    assert len(set(asked)) == 4


def test_a_word_of_one_phoneme_is_refused_by_what_the_pack_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of utterances in which it was cut out. Near words are asked at each look that fits, here at most."""
    monkeypatch.setattr(SpokenKeyword, "near", lambda self, known, costs: ())
    with pytest.raises(ConfigError, match=r"that speech does not sound like.* wakeword train --anyway"):
        model_from_text("a", tmp_path / "a.onnx", anyway=True)


def test_phonemes_alone_report_no_word_twice_while_they_hear_it(made: Path) -> None:
    model = read_model(made)
    tracker = KeywordTracker(model, 0.5, hop=16, refractory=100)
    assert tracker.trigger.refractory * 160 >= PHONEME_SAMPLES
    assert KeywordTracker(model, 0.5, hop=16, refractory=0).trigger.refractory == 0
    other = read_model(assets_folder() / "models" / "jarvis.onnx")
    assert KeywordTracker(other, 0.5, hop=16, refractory=100).trigger.refractory == 100


def test_the_verdict_says_what_it_is_and_what_other_words_find(made: Path) -> None:
    card = read_model(made).card
    judged = verdict(card)
    assert "made from its text, not trained: finds" in judged.finds
    people = ear_of("en").people.typed_found(fit_of(card.point().threshold))
    assert f"(nothing can be promised: {people.low:.0%} to {people.high:.0%} for nine of ten words" in judged.finds
    assert judged.advice[0].commands == ("wakeword train computer --anyway",)
    assert "`wakeword check` judges the word" in judged.advice[0].words  # and would have it refused without --anyway
    for own in (text_alone(), ear_of("en").people):
        assert own.typed_found(MAX_FIT).middle < own.typed_found(MIN_FIT).middle


def test_it_cannot_be_taught(made: Path) -> None:
    with pytest.raises(ConfigError, match="made from its text; train it: wakeword train computer --anyway"):
        require_trained(read_model(made).card)


def test_the_command_refuses_options_of_training() -> None:
    import typer

    with pytest.raises(typer.BadParameter, match="--data and --seed cannot be given with --now"):
        TrainOptions(word=WORD, data=Path("x"), seed=1, now=True).require_alone("--now", ("now", "word"))


def test_say_tells_which_command_has_the_option_that_it_lacks() -> None:
    with pytest.raises(ConfigError, match="add --anyway to wakeword train"):
        typed_model("go")


def test_a_model_from_its_text_is_refused_without_its_second_stage(made: Path, cli) -> None:  # type: ignore[no-untyped-def]
    """By every command that runs models, in one line: its first stage hears nothing."""
    recording = str(assets_folder() / "audio" / "sentences.flac")
    for command in (["listen", "--input", recording], ["scan", recording], ["evaluate", "--positives", recording]):
        result = cli(*command, "--model", str(made), "--no-verify")
        assert result.status != 0
        assert "expected a trained model to run without its second stage" in result.err
