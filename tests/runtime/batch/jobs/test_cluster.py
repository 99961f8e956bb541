"""A Ray cluster gives the rows of one process, each once, also when it loses a machine in the midst."""

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import soundfile
from support.builders import band_model_bytes, bursts
from support.counting import Calling, Doubling, Number, Thing

from wakeword.base.errors import ConfigError, ModelError, WorkerError
from wakeword.batch.inputs import Recording, local_recording
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.batch.jobs.work import Executor
from wakeword.batch.scanning import Scanned, ScanWork
from wakeword.cli.formats import FormatName, writing


def ignore(size: float, seconds: float) -> None:
    pass


def test_without_ray_its_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"wakeword\[ray\]"):
        executor_for(1.0, ray="local")


def test_a_cluster_that_ends_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Task:
        def options(self, **more: object) -> "Task":
            return self

    def put(work: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    ended = SimpleNamespace(
        is_initialized=lambda: True,
        remote=lambda function: Task(),
        put=put,
        exceptions=SimpleNamespace(RayError=RuntimeError),
    )
    monkeypatch.setattr("wakeword.batch.jobs.cluster.require", lambda *names: None)
    monkeypatch.setattr("wakeword.batch.jobs.cluster.import_module", lambda name: ended)
    with pytest.raises(WorkerError, match=r"cluster at auto .* lost it .*Broken pipe.*; start it again"):
        list(executor_for(1.0, ray="auto").run(Doubling(), [[(0, Number(0))]], ignore))


def test_a_process_of_the_cluster_never_goes_on_with_the_work_of_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = []

    class Task:
        def __init__(self, function: Callable[..., Any]) -> None:
            self.function = function

        def options(self, **more: object) -> "Task":
            return self

        def remote(self, *given: Any) -> int:
            answers.append(self.function(*given))
            return len(answers) - 1

    here = SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=lambda: {"CPU": 1},
        remote=Task,
        put=lambda work: work,
        wait=lambda given, num_returns, timeout: (given, []),
        get=lambda reference: answers[reference],
        cancel=lambda reference, force: None,
        exceptions=SimpleNamespace(RayError=RuntimeError, RayTaskError=KeyError),
    )
    monkeypatch.setattr("wakeword.batch.jobs.cluster.require", lambda *names: None)
    monkeypatch.setattr("wakeword.batch.jobs.cluster.import_module", lambda name: here)
    cluster = executor_for(1.0, ray="auto")
    for factor in (2, 3):
        work = Calling(lambda content, factor=factor: factor * content)
        assert list(cluster.run(work, [[(0, Thing(5))]], ignore)) == [(0, 5 * factor)]


def test_an_address_without_a_cluster_is_one_line() -> None:
    pytest.importorskip("ray", reason="Ray, the extra [ray], is not installed")
    with pytest.raises(WorkerError, match="ray start --head"):
        list(executor_for(1.0, ray="127.0.0.1:9").run(Doubling(), [[(0, Number(0))]], ignore))


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A cluster of two machines of one core each, both on this one, and the function that kills the second."""
    ray = pytest.importorskip("ray", reason="Ray, the extra [ray], is not installed")
    from ray.cluster_utils import Cluster

    # The machines need the works of these tests too, wherever pytest has found them.
    monkeypatch = pytest.MonkeyPatch()
    tests = Path(__file__).parents[3]
    path = [str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    # Without these every machine would begin with a process for each core of this one.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80 * 2**20})
    # The program first: it would be attached to the newest machine, and die with it.
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    second = cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes()
    yield lambda: cluster.remove_node(second, allow_graceful=False)
    ray.shutdown()
    cluster.shutdown()
    monkeypatch.undo()


@pytest.fixture
def recordings(tmp_path: Path) -> list[Recording]:
    made = []
    for seed in range(24):
        path = tmp_path / f"{seed:02}.wav"
        soundfile.write(path, bursts(2.0, {1.0: "low" if seed % 2 else "high"}, seed=seed), 16_000)
        made.append(local_recording(path))
    (tmp_path / "05.wav").write_bytes(b"RIFF, but no more")
    return made


def write_results(
    executor: Executor, recordings: list[Recording], folder: Path, *, after_8: Callable[[], None] | None = None
) -> list[Scanned]:
    """The rows of a scan, which are written to ``folder`` in every format."""
    folder.mkdir()
    run = Run(ScanWork([band_model_bytes("low", 1)]), recordings)
    found = []
    with ExitStack() as stack:
        writers = [stack.enter_context(writing(folder / form.value, form)) for form in FormatName]
        for _, scanned in stack.enter_context(closing(run.rows(executor, ignore))):
            found.append(dataclasses.replace(scanned, cpu=0.0))  # which differs from run to run
            for write in writers:
                for detection in scanned.detections:
                    write(scanned.name, detection)
            if len(found) == 8 and after_8 is not None:
                after_8()
    return found


def test_a_machine_that_dies_loses_nothing(two_nodes: Any, recordings: list[Recording], tmp_path: Path) -> None:
    # One piece of work for each: as long as a batch.
    recordings = [dataclasses.replace(one, size=2_000_000) for one in recordings]
    wanted = write_results(Executor(), recordings, tmp_path / "one")
    assert sum(len(scanned.detections) for scanned in wanted) >= 10
    cluster = executor_for(1.0, ray="auto")
    assert cluster.workers == 2
    found = write_results(cluster, recordings, tmp_path / "cluster", after_8=two_nodes)
    assert [scanned.name for scanned in found] == [one.name for one in recordings]
    assert found == wanted
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "cluster"))
    assert len(one) == 3
    assert all(content.count(b"low") >= 10 for content in one.values())
    assert other == one


def test_work_that_cannot_begin_says_why_and_what_kills_its_process_is_lost(two_nodes: Any) -> None:
    cluster = executor_for(1.0, ray="auto")
    with pytest.raises(ModelError, match="no such model"):
        list(cluster.run(Doubling(refuses=True), [[(0, Number(0))]], ignore))
    items = list(enumerate([Number(0), Number(1, deed="kill"), Number(2)]))
    rows = dict(cluster.run(Doubling(), [items], ignore))
    assert [rows[number].get("double") for number in range(3)] == [0, None, 4]
    assert "died" in rows[1]["error"]


def test_a_machine_with_another_version_ends_the_run(two_nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword.batch.jobs.cluster.__version__", "another")
    with pytest.raises(WorkerError, match="expected wakeword another on every machine"):
        list(executor_for(1.0, ray="auto").run(Doubling(), [[(0, Number(0))]], ignore))


def test_a_machine_that_cannot_read_the_work_ends_the_run(two_nodes: Any) -> None:
    class Unreadable(Doubling):
        def __reduce__(self) -> Any:
            return __import__, ("no_such_package",)

    with pytest.raises(WorkerError, match="no_such_package"):
        list(executor_for(1.0, ray="auto").run(Unreadable(), [[(0, Number(0))]], ignore))
