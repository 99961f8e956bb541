"""How much audio a file declares, to notice a WAV file, or one of its kind, that was cut off, and damage in Ogg.

libsndfile corrects the length to what it found, leaves out pages of Ogg with a wrong checksum, and only its log says so.
It reports damage in FLAC by itself; damaged MP3, and Ogg that ends after a whole page, are read as if all were there.
"""

import re

import soundfile

_MAX_BYTES = 2**31 - 2**16
"""A length of this many bytes and more is what programs write that do not know it yet."""
_VARIABLE = ("MPEG", "VORBIS", "OPUS", "ALAC")
"""Subtypes that need next to nothing for silence; FLAC, a format with subtypes of PCM, is another."""
_MAX_FRAMES_A_BYTE = 8
"""The most in all other subtypes: DWVW takes one bit for a silent sample, GSM 6.10 puts five samples into a byte."""
_TOLERANCE = 0.001
"""Seconds. A byte of padding may be missing."""

# Lines of libsndfile's log such as "data : 64000 (should be 57595)": WAV, AIFF and AU; W64 has the length of the file.
_CUT = re.compile(r"^\s*(?:data|SSND|Data Size|riff)\s*: (\d+) \(should be (\d+)\)$", re.MULTILINE)
_HOLE = re.compile(r"libogg reports a hole|lacks an end-of-stream bit\.\s+Ogg ?: Junk after the last page")


def missing(file: soundfile.SoundFile, read: int) -> str | None:
    """What an open file lacks after ``read`` samples were read, in words; ``None`` if it is as long as it declares."""
    if _HOLE.search(file.extra_info):
        return "a part of it is missing or was changed"
    cut = _CUT.search(file.extra_info)
    if cut is None or not int(cut[2]) < int(cut[1]) < _MAX_BYTES:
        return None
    seconds = read / file.samplerate
    declared = file.frames * int(cut[1]) / max(1, int(cut[2])) / file.samplerate
    return f"got {seconds:.2f} of {declared:.2f} s" if seconds < declared - _TOLERANCE or not file.frames else None


def impossible(file: soundfile.SoundFile, size: int) -> str | None:
    """What an open file of ``size`` bytes declares that so few bytes cannot hold, in words; ``None`` if they can.

    libsndfile takes the length of W64 on trust: it would give silence for days. It takes any file with the name of an AU
    file, which has no header of one, for samples of telephones.
    """
    if (file.format, file.subtype) == ("RAW", "ULAW"):
        return "it has no header"
    if file.format in ("FLAC", "OGG") or file.subtype.startswith(_VARIABLE):
        return None
    most = _MAX_FRAMES_A_BYTE * size
    return f"its header declares {file.frames} samples in {size} bytes" if file.frames > most else None
