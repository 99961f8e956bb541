"""What is known of recordings in folders: where the keyword is said in background, and which positives are synthetic."""

from collections.abc import Callable, Iterable
from pathlib import Path

from wakeword.listing import files_below
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import Files, Selection, find_files
from wakeword_tools.transcripts import Part, describe_cut, read_transcripts, without_keyword


def select(folders: Files, keyword: str, *, report: Callable[[str], None]) -> Selection:
    """The files in folders of each kind, without the utterances of background in which the keyword is said.

    The transcripts beside background say which these are; ``report`` gets a line about them. Raises as ``find_files``
    does, and ``DataError`` for transcripts or a manifest that cannot be read.
    """
    files = find_files(folders)
    parts = _free_parts(folders.get(Kind.BACKGROUND, ()), keyword, report)
    background = [path for path in files.get(Kind.BACKGROUND, ()) if parts.get(path, True)]
    if Kind.BACKGROUND in files:
        files[Kind.BACKGROUND] = background
    return Selection(files, parts, synthetic_files(folders.get(Kind.POSITIVE, ())))


def synthetic_files(folders: Iterable[Path]) -> frozenset[Path]:
    """The clips of these folders that no person said, according to their manifests."""
    manifests = [file for folder in folders for file in files_below(folder, lambda name: name == MANIFEST).files]
    return frozenset(file.parent / row.file for file in manifests for row in read_manifest(file) if row.synthetic)


def _free_parts(roots: Iterable[Path], keyword: str, report: Callable[[str], None]) -> dict[Path, list[Part]]:
    """What is left of each recording in which the keyword is said."""
    said = {one for root in roots for one in read_transcripts(root) if one.says(keyword)}
    if not said:
        return {}
    report(describe_cut(list(said), keyword))
    return {
        path: without_keyword([Part(path)], [one for one in said if one.path == path], keyword)
        for path in {one.path for one in said}
    }
