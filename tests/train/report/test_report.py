"""The verdict says what the card says, in plain words, and the charts stay inside their frames."""

import dataclasses

import pytest
from support.reported import card

from wakeword.format.operating_point import Rate
from wakeword_train.points import ENROLMENT
from wakeword_train.report.verdict import Verdict, VerdictGrade, _why, verdict


@pytest.mark.parametrize(
    ("recall", "target", "grade"),
    [
        (0.93, 1.0, VerdictGrade.GOOD),
        (0.93, 3.0, VerdictGrade.FAIR),
        (0.7, 0.5, VerdictGrade.FAIR),
        (0.3, 0.5, VerdictGrade.WEAK),
        (0.99, None, VerdictGrade.WEAK),
    ],
)
def test_a_grade_needs_both_few_misses_and_few_mistakes(
    recall: float, target: float | None, grade: VerdictGrade
) -> None:
    assert verdict(card(recall, target, synthetic=False)).grade is grade


def test_a_word_that_only_synthetic_voices_said_is_fair_at_best() -> None:
    assert verdict(card(1.0, 0.5)).grade is VerdictGrade.FAIR
    assert verdict(card(1.0, 0.5, synthetic=False)).grade is VerdictGrade.GOOD


def test_close_words_and_what_was_not_shown_lower_the_grade() -> None:
    good = card(0.93, 0.5, synthetic=False)

    def judged(**changes: object) -> Verdict:
        return verdict(
            dataclasses.replace(good, operating_points=(dataclasses.replace(good.operating_points[0], **changes),))  # type: ignore[arg-type]
        )

    assert judged().grade is VerdictGrade.GOOD
    assert judged(assurance=0.79).grade is VerdictGrade.FAIR
    grades = [judged(fpr_near_negatives=Rate(share, 0.0, 1.0, 1, 100)) for share in (0.1, 0.11, 0.31)]
    assert [one.grade for one in grades] == [VerdictGrade.GOOD, VerdictGrade.FAIR, VerdictGrade.WEAK]
    assert ["sound like it wake it too" in one.wakes for one in grades] == [False, True, True]


def test_the_verdict_is_in_plain_words_and_says_what_it_rests_on() -> None:
    judged = verdict(card(0.93, 0.5, events=0))
    assert "of 10 people, if it does as" in judged.finds
    assert "voices" not in judged.finds
    assert "up to once in 2 hours of talking (it did so never in 2.0 h" in judged.wakes
    assert str(judged.advice[0]).startswith("record yourself")
    assert "10 recordings of people" in str(verdict(card(0.9, 0.5, synthetic=False)))
    nothing = dataclasses.replace(card(0.9, 0.5), operating_points=(), default_point=None)
    assert verdict(nothing).grade is VerdictGrade.WEAK
    # The page puts "it" before both.
    for judged in (verdict(nothing), verdict(card(0.9, None))):
        assert judged.finds.startswith("finds ")
        assert judged.wakes.startswith(("may wake ", "wakes "))


def test_the_verdict_tells_voices_from_people_and_never_gives_most_out_for_all() -> None:
    one = card(1.0, 0.5, synthetic=False)
    three = dataclasses.replace(
        one.operating_points[0], positives=3, recall=2 / 3, recall_synthetic=Rate(0.96, 0.9, 1.0, 288, 300)
    )
    judged = verdict(dataclasses.replace(one, operating_points=(three,)))
    assert "people, if it does as" in judged.finds
    assert "it found 2 of only 3 recordings of people" in judged.finds
    alone = verdict(
        dataclasses.replace(one, operating_points=(dataclasses.replace(three, recall_synthetic=None, recall=1.0),))
    )
    assert "all of 10 recordings of people (there were only 3)" in alone.finds
    said = {share: verdict(card(share, 0.5, synthetic=False)).finds for share in (0.0, 0.01, 0.94, 0.95, 0.99, 1.0)}
    assert [words.split(" of 10")[0] for words in said.values()] == [
        *("finds none", "finds hardly any", "finds about 9", "finds nearly all", "finds nearly all", "finds all"),
    ]


def test_of_a_fine_tuned_model_the_takes_count_and_the_new_scale_is_explained() -> None:
    before = card(0.9, 0.5, synthetic=False)
    after = dataclasses.replace(
        before,
        training={"method": ENROLMENT},
        operating_points=(dataclasses.replace(before.operating_points[0], threshold=0.0139, target=1.0, positives=9),),
    )
    assert "about 9 of 10 of your takes, each tried by a model that never heard it (9 takes)" in verdict(after).finds
    # The command that trains a word from nothing would lose the fine-tuning.
    assert not verdict(after).advice[-1].commands
    assert str(verdict(after).advice[-1]).endswith(": the same command, with --background my_rooms/ added")


def test_figures_that_a_reader_would_wonder_at_are_explained() -> None:
    few = card(0.75, 2.0)
    (lax,) = few.operating_points
    assert verdict(few).why == ()
    (people,) = _why(few, lax, 0.8)
    assert people.startswith("People can be found more often than these voices")
    luck = dataclasses.replace(lax, target=1.0, false_accepts_per_hour=Rate(0.0, 0.0, 1.8, 0, 2.0))
    for strict, reason in (
        (luck, "would be set by luck"),
        (dataclasses.replace(lax, target=1.0), "would find too few"),
    ):
        points = (dataclasses.replace(strict, name="strict"), lax)
        (why,) = verdict(dataclasses.replace(few, operating_points=points)).why
        assert why.startswith("It may wake 2 times an hour, as the next stricter setting, once an hour, ")
        assert reason in why


def test_the_next_command_is_whole() -> None:
    first = str(verdict(card(0.93, 0.5), "hey-b.onnx").advice[0])
    assert "wakeword record 'hey <b>' --count 10 --out takes and then " in first
    assert "wakeword train --from hey-b.onnx --positives takes --background talk --out my-hey-b.onnx" in first
    assert "two minutes" in first


def test_a_word_without_real_speech_in_its_language_says_so_and_asks_for_an_hour_of_radio() -> None:
    english = card(0.93, 0.5, events=0)
    german = dataclasses.replace(english, training={"language": "de", "background_hours": {"en": 2.5}})
    judged = verdict(german)
    # What English words find says nothing of it: until recordings of people tell, it is weak.
    assert "synthetic voices; how many people is not known" in judged.finds
    assert judged.grade is VerdictGrade.WEAK
    assert "other people's English speech" in judged.wakes
    assert str(judged.advice[0]).startswith("no real speech in German stands behind it")
    assert judged.advice[0].commands[0].endswith("--language de --background radio/")
    heard = dataclasses.replace(german, training={"language": "de", "background_hours": {"en": 2.5, "own": 1.0}})
    assert not any("no real speech" in str(step) for step in (*verdict(heard).advice, *verdict(english).advice))
