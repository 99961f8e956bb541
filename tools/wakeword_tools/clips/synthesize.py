"""Sets of spoken clips, drawn from a seed, and written complete or not at all."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from wakeword.audio.audio_file import audio_bytes
from wakeword.base.errors import SynthesisError, raising
from wakeword.base.events import SILENT, Events
from wakeword.base.exclusive import resumable_folder
from wakeword.base.files import write_whole
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor, Report
from wakeword_tools.clips.manifest import recipe_row, write_manifest
from wakeword_tools.clips.plan import ClipPart, Recipe, render
from wakeword_tools.engines.registry import engine_of
from wakeword_tools.texts.foreign_language import ways_to_say

SECONDS_FOR_A_CLIP = 60.0
_SECONDS = 4.0
"""A clip is as much work as so much audio that is scored, or more."""
_HOPELESS = 20
"""If so many clips fail at the beginning and none succeeds, no further one is tried."""


@dataclass(frozen=True, slots=True)
class SpokenClip:
    """A clip to speak."""

    recipe: Recipe
    key: str
    """Its name in the folder."""
    size: float = 1.0
    seconds: float = _SECONDS


class SpeakWork:
    """Speaks clips: ``wakeword.batch.jobs.work.Work``.

    Rows are the bytes of FLAC files, 16 kHz mono 16-bit, or why there is none.
    """

    def begin(self, report: Report) -> Callable[[SpokenClip], bytes | SynthesisError]:
        """Engines are loaded with the first clip that needs them."""

        def spoken(clip: SpokenClip) -> bytes | SynthesisError:
            found: bytes | SynthesisError
            try:
                found = audio_bytes(render(clip.recipe), "FLAC")
            except SynthesisError as error:
                found = self.lost(clip, str(error))
            report(clip.size, clip.seconds)
            return found

        return spoken

    def lost(self, item: SpokenClip, reason: str) -> SynthesisError:
        """The row of a clip that could not be spoken."""
        return SynthesisError(reason)


def synthesize(
    parts: Sequence[ClipPart],
    out_dir: Path | str,
    *,
    jobs: int = 1,
    resume: bool = False,
    skip: bool = False,
    events: Events = SILENT,
) -> Path:
    """Write the clips of the parts (16 kHz mono 16-bit FLAC) and a ``manifest.jsonl`` into the new folder ``out_dir``.

    The folder appears when it is complete; ``events`` is told the share of the clips that is done. With ``skip``, engines
    run in separate processes, and a recipe on which one fails, crashes or hangs is left out, with a line to ``events``;
    without it, the first such recipe raises ``SynthesisError``, as do recipes that all fail, or the first 20 of them, a
    full disk, and phonemes that no voice takes. Raises ``ConfigError`` if the folder exists. The clips of a run that was
    killed stay in a hidden folder next to it; with ``resume`` a run with the same arguments goes on with them.
    """
    phonemes = {text: _phonemes(text, part.voices[0].language) for part in parts for text in part.texts}
    drawn = [(recipe, part) for part in parts for recipe in part.recipes()]
    items = [
        (
            recipe,
            recipe_row(recipe, f"{index:06}.flac", seed=part.seed)
            | {"phonemes": phonemes[recipe.text], "distance": part.distances.get(recipe.text)},
        )
        for index, (recipe, part) in enumerate(drawn)
    ]
    target = Path(out_dir)
    executor = Processes(jobs, seconds=SECONDS_FOR_A_CLIP) if jobs > 1 or skip else Executor()
    for voice in {recipe.voice.engine: recipe.voice for recipe, _ in items}.values():
        engine_of(voice)  # raises before any work if an engine is not installed
    digest = hashlib.sha256(json.dumps([row for _, row in items], sort_keys=True).encode()).hexdigest()
    writing = raising(SynthesisError, f"could not write the clips to {target}", OSError)
    with writing, resumable_folder(target, digest, resume=resume) as folder:
        write_manifest(folder, _made(items, folder, executor, skip=skip, events=events))
    return target


def _made(
    items: Sequence[tuple[Recipe, Mapping[str, object]]],
    folder: Path,
    executor: Executor,
    *,
    skip: bool,
    events: Events,
) -> list[Mapping[str, object]]:
    """The rows of the clips that could be spoken, and are now in ``folder``. Raises as ``synthesize`` does."""
    made = []
    for done, (row, recipe, failure) in enumerate(_spoken(items, folder, executor), 1):
        if failure is None:
            made.append(row)
        elif not skip:
            raise failure
        else:
            events.note(f"left out {recipe.text!r} by {recipe.voice.name}: {failure}")
            if done == _HOPELESS and not made:
                raise SynthesisError(
                    f"expected clips, but none of the first {done} of {len(items)} could be spoken; correct the "
                    "command, or try other voices or texts"
                )
        events.share(done / len(items))
    if not made:
        raise SynthesisError(f"expected clips, but none of {len(items)} could be spoken; try other voices or texts")
    return made


def _spoken(
    items: Sequence[tuple[Recipe, Mapping[str, object]]], folder: Path, executor: Executor
) -> Iterator[tuple[Mapping[str, object], Recipe, SynthesisError | None]]:
    """Each row with its recipe and why it could not be spoken, in order; a clip that is there already is kept."""
    paths = [folder / str(row["file"]) for _, row in items]
    kept = {path for path in paths if path.exists()}
    unsaid = [SpokenClip(recipe, path.name) for (recipe, _), path in zip(items, paths, strict=True) if path not in kept]
    with closing(Run(SpeakWork(), unsaid).rows(executor, lambda size, seconds: None)) as results:
        for (recipe, row), path in zip(items, paths, strict=True):
            failure = None
            if path not in kept:
                _, spoken = next(results)
                if isinstance(spoken, SynthesisError):
                    failure = spoken
                else:
                    write_whole(path, spoken)
            yield row, recipe, failure


def _phonemes(text: str, language: str) -> str:
    """Phonemes for the manifest; empty where the language has none, as a voice of another one can still speak it."""
    try:
        return " ".join(ways_to_say(text, language)[0])
    except SynthesisError:
        return ""
