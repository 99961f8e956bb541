"""A whole file is read without complaint in every container; a part of WAV and its like is not taken for the whole."""

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword import AudioFileError, AudioFormatError, FileSource
from wakeword.audio.audio_file import AudioFile, read_audio

RATE = 16_000
FORMS = {
    "a.wav": {},
    "adpcm.wav": {"subtype": "IMA_ADPCM"},
    "a.flac": {},
    "vorbis.ogg": {"subtype": "VORBIS"},
    "opus.ogg": {"subtype": "OPUS"},
    "a.mp3": {},
    "a.aiff": {},
    "a.au": {},
    "a.caf": {},
    "a.w64": {},
    "a.rf64": {},
    "a.voc": {"subtype": "PCM_16"},
    "a.sph": {"format": "NIST", "subtype": "PCM_16"},
}


def written(path: Path, *, seconds: float = 2.0) -> bytes:
    """The bytes of a file of noise under a tone, in the form of its name."""
    count = round(seconds * RATE)
    signal = 0.3 * np.sin(0.1 * np.arange(count)) + 0.05 * np.random.default_rng(0).standard_normal(count)
    soundfile.write(path, signal, RATE, **FORMS[path.name])
    return path.read_bytes()


@pytest.mark.parametrize("name", FORMS)
def test_a_whole_file_is_complete(tmp_path: Path, name: str) -> None:
    written(tmp_path / name)
    assert len(read_audio(tmp_path / name)) == pytest.approx(2.0 * RATE, rel=0.04)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("name", [name for name in FORMS if name.endswith((".wav", ".flac", ".aiff", ".au", ".w64"))])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, name: str, share: float) -> None:
    data = written(tmp_path / name)
    (tmp_path / name).write_bytes(data[: round(share * len(data))])
    with pytest.raises(AudioFileError, match=f"{name}: .*could not read"):
        read_audio(tmp_path / name)


def test_the_blocks_before_the_end_are_delivered_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(written(path)[: 44 + RATE])
    blocks = []
    with pytest.raises(AudioFileError, match=r"got 0\.50 of 2\.00 s"):
        blocks.extend(FileSource(path).blocks())  # a list keeps what came before the error
    assert sum(map(len, blocks)) == RATE // 2


@pytest.mark.parametrize("place", [0.4, 0.6, 0.95])
def test_a_damaged_byte_of_flac_is_noticed(tmp_path: Path, place: float) -> None:
    path = tmp_path / "a.flac"
    data = bytearray(written(path))
    data[round(place * len(data))] ^= 255
    path.write_bytes(data)
    with pytest.raises(AudioFileError, match="damaged"):
        read_audio(path)


def test_damage_inside_ogg_is_noticed(tmp_path: Path) -> None:
    for name in ("vorbis.ogg", "opus.ogg"):
        path, data = tmp_path / name, written(tmp_path / name, seconds=20.0)
        middle = data.index(b"OggS", len(data) // 2)
        changed = data[: middle + 300] + bytes(2) + data[middle + 302 :]
        without_a_page = data[: data.rindex(b"OggS", 0, middle)] + data[middle:]
        for damaged in (changed, without_a_page, data[: middle + 300]):
            path.write_bytes(damaged)
            with pytest.raises(AudioFileError, match=rf"{name}: could not read all of it, .*a part of it is missing"):
                read_audio(path)
        path.write_bytes(data * 2 if name == "vorbis.ogg" else data)  # a chain is no damage
        assert len(read_audio(path)) >= 20 * RATE


@pytest.mark.parametrize("suffix", [".au", ".snd"])
def test_bytes_without_a_header_are_not_read_as_telephone_samples(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    for data in (b"", bytes(20_000), np.random.default_rng(0).bytes(20_000), b"words\n" * 900):
        path.write_bytes(data)
        with pytest.raises(AudioFileError, match=f"a{suffix}: .*it has no header"):
            AudioFile(path)


@pytest.mark.parametrize("name", ["vorbis.ogg", "opus.ogg", "a.mp3"])
def test_what_a_decoder_gives_far_above_full_scale_is_damage(tmp_path: Path, name: str) -> None:
    path, tone = tmp_path / name, np.sin(0.1 * np.arange(2 * RATE))
    soundfile.write(path, 61 * tone, RATE, **FORMS[name])
    with pytest.raises(AudioFileError, match=f"{name}: .*damaged after 0.00 s: samples far above full scale"):
        read_audio(path)
    soundfile.write(path, 1.4 * tone, RATE, **FORMS[name])
    assert np.abs(read_audio(path)).max() > 1  # decoders overshoot a little


def test_floats_far_above_full_scale_in_a_wav_are_a_fault_of_the_program_that_wrote_it(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(RATE, 20_000.0), RATE, subtype="FLOAT")
    with pytest.raises(AudioFormatError, match=r"a\.wav: .*peak of 20000; save the file again as 16-bit"):
        read_audio(tmp_path / "a.wav")


@pytest.mark.parametrize("length", [0xFFFFFFFF, 0x80000000, 0x7FFFF000])
def test_a_wav_from_a_pipe_declares_no_length(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.wav"
    data = written(path)
    assert data[36:40] == b"data"
    path.write_bytes(data[:40] + struct.pack("<I", length) + data[44:])
    assert len(read_audio(path)) == 2 * RATE


def sound_of(path: Path, form: str, subtype: str, seconds: float = 2.0) -> Path:
    """A silent file: what compresses best."""
    soundfile.write(path, np.zeros(round(seconds * RATE)), RATE, format=form, subtype=subtype)
    return path


@pytest.mark.parametrize("length", [-8_353_663_836_842_098_584, 2**62, 2**40])
@pytest.mark.parametrize("subtype", ["GSM610", "IMA_ADPCM", "ULAW", "PCM_16"])
def test_a_length_that_the_bytes_cannot_hold_is_never_read_as_days_of_silence(
    tmp_path: Path, subtype: str, length: int
) -> None:
    path = sound_of(tmp_path / "a.w64", "W64", subtype)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"data\xf3\xac") + 16
    data[place : place + 8] = struct.pack("<q", length)
    path.write_bytes(data)
    # Either is right: libsndfile corrects some lengths to what there is.
    with contextlib.suppress(AudioFileError), AudioFile(path) as file:
        assert file.seconds < 60
        assert sum(map(len, file.blocks())) < 60 * RATE


def test_the_file_of_days_of_silence_that_a_fuzzer_made_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.w64"
    chunks = [
        (b"fmt ", struct.pack("<HHIIHHHH", 0x31, 1, 22_050, 4_478, 65, 0, 2, 320) + bytes(4)),
        (b"data", bytes(100)),
    ]
    tail = b"\xf3\xac\xd3\x11\x8c\xd1\x00\xc0\x4f\x8e\xdb\x8a"
    body = b"wave" + tail
    for name, content in chunks:
        length = 24 + len(content) if name == b"fmt " else -8_353_663_836_842_098_584
        body += name + tail + struct.pack("<q", length) + content
    riff = b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00"
    path.write_bytes(riff + struct.pack("<q", 24 + len(body)) + body)
    with pytest.raises(AudioFileError, match=r"a\.w64: .*damaged: its header declares \d+ samples in \d+ bytes"):
        AudioFile(path)


def test_damage_is_named_by_what_was_read_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    data = bytearray(written(path))
    data[21] |= 0x0F
    data[22:26] = b"\xff" * 4  # the number of samples in the header; the decoder cannot tell where it stopped
    path.write_bytes(data)
    blocks: list[np.ndarray] = []
    with pytest.raises(AudioFileError) as caught, AudioFile(path) as file:
        blocks.extend(file.blocks())
    assert f" {sum(map(len, blocks)) / RATE:.2f} " in str(caught.value)


@pytest.mark.parametrize("form", sorted(set(soundfile.available_formats()) - {"RAW", "SD2"}))
def test_silence_is_sound_in_every_format(tmp_path: Path, form: str) -> None:
    for subtype in soundfile.available_subtypes(form):
        if subtype.startswith("DWVW"):
            continue  # libsndfile 1.2.2 cannot read what it wrote
        try:
            path = sound_of(tmp_path / f"{subtype}.{form.lower()}", form, subtype)
        except (soundfile.LibsndfileError, ValueError):
            continue  # some cannot be written at this rate
        with AudioFile(path) as file:  # XI and WVE have a rate of their own
            assert sum(map(len, file.blocks())) == pytest.approx(2.0 * RATE, rel=0.1), subtype
