"""The recordings at places of each kind, where in background the keyword is said, and which positives are synthetic."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wakeword.base.errors import AudioError, CalibrationError, LeftOutError
from wakeword.base.events import Line
from wakeword.base.files import resolved
from wakeword.base.listing import files_below
from wakeword.batch.inputs import Recording, expanded, find_recordings
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import kind_in_words
from wakeword_tools.measure.recordings import Selection
from wakeword_tools.transcripts import TimedText, describe_cut, read_transcripts, transcripts_beside, without_keyword


def select(places: Mapping[Kind, Sequence[str]], keyword: str, *, report: Line) -> Selection:
    """The recordings at places of each kind, without the utterances of background in which the keyword is said.

    Places are as ``find_recordings`` takes them, or lists of such. The transcripts next to background say which utterances
    these are; ``report`` gets a line about them. Transcripts and the manifests of synthetic clips are looked for in folders
    and next to files of this machine. Raises as ``find_files`` does, and ``DataError`` for one that cannot be read.
    """
    places = {kind: list(expanded(of_kind)) for kind, of_kind in places.items()}
    files = find_files(places, report=report)

    def apart(kind: Kind) -> tuple[list[Path], list[Path]]:
        """The folders among the places, and the files that are in none of them."""
        folders = [Path(place) for place in places.get(kind, ()) if Path(place).is_dir()]
        found = [Path(recording.name) for recording in files.get(kind, ())]
        return folders, [file for file in found if not any(map(file.is_relative_to, folders))]

    parts = _free_parts(*apart(Kind.BACKGROUND), keyword, report)
    if Kind.BACKGROUND in files:
        files[Kind.BACKGROUND] = [file for file in files[Kind.BACKGROUND] if parts.get(Path(file.name), True)]
    return Selection(files, parts, _synthetic_files(*apart(Kind.POSITIVE)))


def find_files(places: Mapping[Kind, Sequence[str]], *, report: Line) -> dict[Kind, list[Recording]]:
    """The recordings at the places of each kind, each once.

    Raises ``AudioFileError`` for a place without any or that cannot be searched: what is measured on a part of the
    recordings would look like the result of all. Files that cannot be read here are left out, as damaged ones are, and
    ``report`` gets a line about them. Raises ``CalibrationError`` for one that is both a positive and of
    another kind, and ``ConfigError`` for an address.
    """

    left_out: list[LeftOutError] = []

    def fail(error: AudioError) -> None:
        if not isinstance(error, LeftOutError):
            raise error
        left_out.append(error)

    found = {kind: find_recordings(roots, failed=fail) for kind, roots in places.items()}
    for error in left_out:
        if any(places[kind] and not files for kind, files in found.items()):
            raise error
        report(f"warning: {error}")
    positives = {resolved(recording.name) for recording in found.get(Kind.POSITIVE, ())}
    for kind, files in found.items():
        both = [recording for recording in files if kind is not Kind.POSITIVE and resolved(recording.name) in positives]
        if both:
            raise CalibrationError(
                f"{both[0].name}: expected a recording to be the wake word or not, found it among the "
                f"positives and the {kind_in_words(kind)} ({len(both)} file(s) in all); remove it from one of them"
            )
    return found


def _synthetic_files(folders: Iterable[Path], files: Iterable[Path]) -> frozenset[Path]:
    """The clips in these folders and next to these files that no person said, according to their manifests."""
    manifests = {file for folder in folders for file in files_below(folder, lambda name: name == MANIFEST).files}
    manifests |= {file for folder in {path.parent for path in files} if (file := folder / MANIFEST).is_file()}
    return frozenset(file.parent / row.file for file in manifests for row in read_manifest(file) if row.synthetic)


def _free_parts(
    folders: Sequence[Path], files: Sequence[Path], keyword: str, report: Line
) -> dict[Path, list[TimedText]]:
    """What is left of each recording in which the keyword is said."""
    utterances = [utterance for folder in folders for utterance in read_transcripts(folder)]
    said = {utterance for utterance in (*utterances, *transcripts_beside(files)) if utterance.says(keyword)}
    if not said:
        return {}
    report(describe_cut(list(said), keyword))
    return {
        path: without_keyword([TimedText(path)], [utterance for utterance in said if utterance.path == path], keyword)
        for path in {utterance.path for utterance in said}
    }
