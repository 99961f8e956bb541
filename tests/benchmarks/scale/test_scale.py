"""The cost of many recordings, and the laws of the cluster on paper."""

from pathlib import Path

import pytest
import soundfile
from support.builders import band_model_bytes, bursts

from benchmarks.scale.scale_measure import measure
from benchmarks.scale.simulate import PaperCluster, Simulated, simulate
from wakeword.base.errors import ConfigError

QUIET = PaperCluster(cores=8, cores_of_a_machine=4, losses_an_hour=0, slow_share=0)


def run(cluster: PaperCluster, *, hours: float = 400, batch: float = 60, seed: int = 0) -> Simulated:
    return simulate([0.006, 0.01, 0.02], audio_hours=hours, batch_seconds=batch, cluster=cluster, seed=seed)


def test_without_losses_all_cores_work_until_the_end() -> None:
    made = run(QUIET)
    assert made.ideal_hours == pytest.approx(400 * 0.012 / 8, rel=0.02)
    assert made.hours == pytest.approx(made.ideal_hours + QUIET.seconds_to_start / 3600, rel=0.01)
    assert (made.lost_machines, made.lost_core_hours, made.most_retries) == (0, 0, 0)
    # The last batch is at most as long as the longest.
    assert 0 <= made.tail_minutes <= 60 * 0.02 / 60


def test_lost_and_slow_machines_cost_time_and_no_batch() -> None:
    quiet = run(QUIET, hours=4000)
    lost = run(PaperCluster(cores=8, cores_of_a_machine=4, losses_an_hour=1, slow_share=0), hours=4000)
    slow = run(PaperCluster(cores=8, cores_of_a_machine=4, losses_an_hour=0, slow_share=0.5), hours=4000)
    assert lost.lost_machines > 0
    assert lost.lost_core_hours > 0
    assert lost.most_retries >= 1
    assert min(lost.hours, slow.hours) > quiet.hours
    # Half of the cores at a third: two thirds of the speed.
    assert slow.hours == pytest.approx(1.5 * quiet.hours, rel=0.02)


def test_larger_pieces_lose_more_work() -> None:
    rough = PaperCluster(cores=8, cores_of_a_machine=4, losses_an_hour=2)
    small, large = (run(rough, hours=4000, batch=batch) for batch in (60, 3600))
    assert small.lost_core_hours < large.lost_core_hours
    assert small.tail_minutes < large.tail_minutes


def test_a_seed_repeats_a_run_and_numbers_are_checked() -> None:
    rough = PaperCluster(cores=8, cores_of_a_machine=4, losses_an_hour=2)
    assert run(rough) == run(rough)
    assert run(rough) != run(rough, seed=1)
    with pytest.raises(ConfigError, match="hours of audio"):
        run(rough, hours=0)


def test_what_is_measured_is_the_work(tmp_path: Path) -> None:
    (tmp_path / "low.onnx").write_bytes(band_model_bytes("low", 1))
    for number in range(3):
        soundfile.write(tmp_path / f"{number}.wav", bursts(4.0, {2: "low"}), 16_000)
    made = measure(str(tmp_path / "low.onnx"), [str(tmp_path)], jobs=1, report=print)
    assert (made.recordings, made.hours) == (3, pytest.approx(12 / 3600))
    assert 0 < sum(made.cost_quantiles) / 101 < 1
    assert list(made.cost_quantiles) == sorted(made.cost_quantiles)
    assert made.figures["audio_hours_a_minute"] > 0
