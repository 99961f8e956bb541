"""Which executor does the work: as asked for, or as it pays."""

from wakeword.base.errors import ConfigError
from wakeword.batch.jobs.cluster import Cluster
from wakeword.batch.jobs.job_plan import default_jobs
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor, ThisProcess


def executor_for(seconds: float, *, jobs: int | None = None, ray: str | None = None) -> Executor:
    """The executor for so many seconds of audio: ``jobs`` processes, the Ray cluster at ``ray``, or, without both, as
    many processes as ``default_jobs`` says. One is this process.

    Raises ``ConfigError`` if both are given, for a number of jobs out of range, and if Ray is not installed.
    """
    check_choice(jobs=jobs, ray=ray)
    if ray is not None:
        return Cluster(ray)
    processes = Processes(default_jobs(seconds) if jobs is None else jobs)
    return processes if processes.workers > 1 else ThisProcess()


def check_choice(*, jobs: int | None, ray: str | None) -> None:
    """``ConfigError`` if both are given."""
    if jobs is not None and ray is not None:
        raise ConfigError("expected --jobs or --ray, got both; a cluster uses all of its cores")


def in_this_process(seconds: float) -> Executor:
    """This process, whatever there is to do: for programs that must not start others."""
    return ThisProcess()
