"""Laws of the points of a head alone: each rate is kept in the speech, by the head that has not heard who speaks."""

import torch

from wakeword.verify.embedding import STEP_FRAMES
from wakeword_tools.measure.scores import events_at
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_logits, points_alone

HOURS = 2.0


def test_each_rate_is_kept_by_the_head_of_each_recording() -> None:
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    heads = [HeadNetwork(8).eval() for _ in range(2)]
    speech = {number: [torch.randn(900, 96, generator=generator) for _ in range(3)] for number in range(2)}
    speech[1].append(torch.randn(15, 96, generator=generator))  # too short for a look
    found = points_alone(heads, speech, HOURS)
    assert found is not None
    assert found.hours == HOURS
    points = found.points
    assert [rate for rate, _ in points] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    logits = [logit for _, logit in points]
    assert logits == sorted(logits, reverse=True)
    streams = [
        head_logits(heads[number], one.unfold(0, 16, 1).transpose(1, 2)).sigmoid().double().numpy()
        for number, some in speech.items()
        for one in some
        if len(one) >= 16
    ]
    for rate, logit in points:
        above = torch.tensor(logit + 1e-3).sigmoid().item()
        below = torch.tensor(logit - 1e-3).sigmoid().item()
        assert events_at(streams, above, hop=STEP_FRAMES) <= rate * HOURS < events_at(streams, below, hop=STEP_FRAMES)


def test_without_an_hour_for_an_event_a_rate_is_left_out() -> None:
    head = HeadNetwork(8).eval()
    found = points_alone([head], {0: [torch.zeros(20, 96)]}, 0.1)
    assert found is not None
    assert [rate for rate, _ in found.points] == [16.0, 32.0]
    assert points_alone([head], {0: [torch.zeros(20, 96)]}, 0.01) is None
    assert points_alone([head], {}, HOURS) is None
