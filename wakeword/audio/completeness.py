"""How much audio a file declares, to notice that it was cut off or damaged.

libsndfile reports damage in FLAC alone. For other containers it corrects the length to what it found, in silence, and only
its log says so: so the declared length is taken from that log, or from the file itself. The pages of Ogg have checksums.
"""

import math
import re
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import soundfile

_MOST_BYTES = 2**31 - 2**16
"""A length of this many bytes and more is what programs write that do not know it yet."""
_PAGE = 2**16
"""Bytes that hold any page of Ogg, and the header of any other file."""
_PAGE_HEAD = struct.Struct("<4sBBqIIIB")
"""Mark, version, kind, position, stream, number, checksum and number of segments: RFC 3533, section 6."""
_LAST_PAGE = 4
"""Bit of the kind of a page: the stream ends with it."""
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_VARIABLE = ("MPEG", "VORBIS", "OPUS", "ALAC")
"""Subtypes that need next to nothing for silence; FLAC, a format with subtypes of PCM, is another."""
_MOST_FRAMES_A_BYTE = 8
"""The most in all other subtypes: DWVW takes one bit for a silent sample, GSM 6.10 puts five samples into a byte."""
_TOLERANCE, _MP3_TOLERANCE = 0.001, 0.1
"""Seconds. MP3 counts whole frames, and encoders differ in whether they count the first one."""

# Lines of libsndfile's log such as "data : 64000 (should be 57595)": WAV, AIFF and AU; W64 has the length of the file.
_CUT = re.compile(r"^\s*(?:data|SSND|Data Size|riff)\s*: (\d+) \(should be (\d+)\)$", re.MULTILINE)
_RF64 = re.compile(r"does not match value from 'ds64' chunk of (\d+)\.")
_VOC = re.compile(r"^Seems to be a truncated file\.$", re.MULTILINE)
# No more digits than libsndfile reads: an endless number is no length.
_SPH = re.compile(rb"^sample_count -i (\d{1,18})\b", re.MULTILINE)
# The flag of the lowest bit: the header has the number of frames.
_MP3 = re.compile(rb"VBRI|(?:Xing|Info)\0\0\0[\x01\x03\x05\x07\x09\x0b\x0d\x0f]", re.DOTALL)


def missing(path: Path, file: soundfile.SoundFile, read: int) -> str | None:
    """What an open file lacks after ``read`` samples were read, in words; ``None`` if it is as long as it declares.

    Raises ``OSError`` if the file cannot be opened again.
    """
    seconds = read / file.samplerate
    if file.format == "OGG":
        with path.open("rb") as raw:
            damaged = _damaged_pages(raw)
        return f"got {seconds:.2f} s, and {damaged} page(s) are damaged or missing" if damaged else None
    declared = _declared_seconds(path, file)
    tolerance = _MP3_TOLERANCE if file.subtype.startswith("MPEG") else _TOLERANCE
    if declared is None or seconds >= declared - tolerance:
        return None
    return f"got {seconds:.2f} s, and no end" if declared == math.inf else f"got {seconds:.2f} of {declared:.2f} s"


def impossible(file: soundfile.SoundFile, size: int) -> str | None:
    """What an open file of ``size`` bytes declares that so few bytes cannot hold, in words; ``None`` if they can.

    libsndfile takes the length of W64 on trust: it would give silence for days.
    """
    if file.format in ("FLAC", "OGG") or file.subtype.startswith(_VARIABLE):
        return None
    most = _MOST_FRAMES_A_BYTE * size
    return f"its header declares {file.frames} samples in {size} bytes" if file.frames > most else None


def _declared_seconds(path: Path, file: soundfile.SoundFile) -> float | None:
    """``None`` if it declares no length, infinite if it declares more than there is, but not how much."""
    rate: int = file.samplerate
    frames: int = file.frames
    log, form = file.extra_info, file.format
    if form == "NIST" or file.subtype.startswith("MPEG"):
        with path.open("rb") as raw:
            if form == "NIST":
                count = _SPH.search(raw.read(_PAGE))
                return None if count is None else int(count[1]) / rate
            # Without a header of its own the length is an estimate from the first frames.
            return frames / rate if _MP3.search(_first_mp3_frame(raw)) else None
    cut = _CUT.search(log)
    if cut is not None and int(cut[2]) < int(cut[1]) < _MOST_BYTES:
        return frames * int(cut[1]) / max(1, int(cut[2])) / rate if frames else math.inf
    if (cut := _RF64.search(log)) is not None:
        return int(cut[1]) / rate
    if _VOC.search(log) is not None:
        return math.inf
    # FLAC that was written to a pipe has no length.
    return None if frames >= 2**62 else frames / rate


def _damaged_pages(raw: BinaryIO) -> int:
    """Pages of an Ogg file that are damaged, lost or, at its end, missing. libogg leaves out such pages in silence."""
    expected: dict[int, int] = {}
    ended: dict[int, bool] = {}
    damaged = 0
    while head := raw.read(_PAGE_HEAD.size):
        if len(head) < _PAGE_HEAD.size or head[:4] != b"OggS":
            damaged += 1
            if not _seek_page(raw, len(head)):
                break
            continue
        _, _, kind, _, serial, number, checksum, segments = _PAGE_HEAD.unpack(head)
        sizes = raw.read(segments)
        body = raw.read(sum(sizes))
        whole = head[:22] + bytes(4) + head[26:] + sizes + body
        damaged += number != expected.get(serial, number) or _ogg_checksum(whole) != checksum
        expected[serial] = number + 1
        ended[serial] = bool(kind & _LAST_PAGE)
    return damaged + list(ended.values()).count(False)


def _seek_page(raw: BinaryIO, read: int) -> bool:
    """Go to the next page after one that does not begin where it should, ``read`` bytes ago. False if there is none."""
    start = raw.tell() - read + 1
    while True:
        raw.seek(start)
        found = (piece := raw.read(_PAGE)).find(b"OggS")
        if found >= 0:
            raw.seek(start + found)
            return True
        if len(piece) < _PAGE:
            return False
        start += len(piece) - 3  # the mark can lie across two pieces


def _ogg_checksum(page: bytes) -> int:
    """The CRC of an Ogg page: zlib's polynomial with the bits in the other order, from 0 and not inverted."""
    reflected = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)


def _first_mp3_frame(raw: BinaryIO) -> bytes:
    head = raw.read(10)
    if head[:3] == b"ID3":
        # Seven bits in each byte; a tag can hold a picture.
        raw.seek(10 + sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=False)))
        head = b""
    return head + raw.read(256)
