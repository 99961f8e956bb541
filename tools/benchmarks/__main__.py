"""``python -m benchmarks``: what listening costs on this machine, compared with the installed peers."""

import typer

from benchmarks.bench_options import BenchmarkOptions
from wakeword.cli.option_class import command


@command
def bench(options: BenchmarkOptions) -> None:
    """Measure what listening costs on this machine: processor time, memory, start-up and delay.

    pymicro-wakeword, openwakeword and pyopen-wakeword are measured as well if they are installed.
    """
    # Imported here, so that --help does not wait for the engine.
    from benchmarks.bench_command import run_benchmark

    run_benchmark(options)


if __name__ == "__main__":
    typer.run(bench)
