"""A recording of a phone is read as the same sound in a wav, and one that nothing can read is named with what helps."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.phones import as_on_a_phone, needs_decoder, without_decoders

from wakeword import AudioFileError, Detection, Detector, FileSource
from wakeword.audio.audio_file import AudioFile, read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.containers import container_of
from wakeword.base.errors import LeftOutError
from wakeword.model.installed import assets_folder

DEMO = assets_folder() / "audio" / "demo.flac"
CLIP = assets_folder() / "audio" / "marvin-david.flac"
FORMS = ["a.m4a", "a.aac", "a.mp4", "a.3gp", "a.webm", "a.mkv", "a.caf"]


def detections(path: Path) -> list[Detection]:
    return list(Detector("marvin").run(FileSource(path)))


@needs_decoder
@pytest.mark.parametrize("name", ["a.m4a", "a.aac", "a.webm"])
def test_a_recording_of_a_phone_gives_the_detections_of_the_wav(tmp_path: Path, name: str) -> None:
    own, wanted = detections(as_on_a_phone(tmp_path / name, DEMO)), detections(DEMO)
    for some, others in ((own, wanted), (wanted, own)):
        clear = [one.end for one in some if one.score > 0.94]
        # Two hops, and the delay of the codec.
        assert all(min(abs(end - other.end) for other in others) < 0.4 for end in clear)
        assert len(clear) >= 5


@needs_decoder
@pytest.mark.parametrize("name", FORMS)
def test_blocks_of_any_size_give_the_samples_of_the_sound(tmp_path: Path, name: str) -> None:
    path = as_on_a_phone(tmp_path / name, CLIP)
    found = []
    for size in (7, 1_000, 65_536):
        with AudioFile(path) as file:
            blocks = list(file.blocks(size))
        assert all(len(block) == size for block in blocks[:-1])
        found.append(np.concatenate(blocks))
    assert all(np.array_equal(found[0], one) for one in found)
    sound, wanted = read_audio(path), read_audio(CLIP)
    assert len(sound) == pytest.approx(len(wanted), abs=2_200)
    best = np.correlate(sound, wanted, "full").max() / np.sqrt((sound @ sound) * (wanted @ wanted))
    assert best > 0.98


@needs_decoder
def test_rate_and_channels_are_those_of_the_file(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", 0.1 * np.random.default_rng(0).standard_normal(44_100), 44_100)
    path = as_on_a_phone(tmp_path / "a.mp4", tmp_path / "a.wav", layout="stereo")
    with AudioFile(path) as file:
        assert (file.sample_rate, file.channels, file.seconds) == (44_100, 2, pytest.approx(1.0, abs=0.1))
        assert all(block.dtype == np.float32 and block.shape[1] == 2 for block in file.blocks(512))


@needs_decoder
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("name", ["a.m4a", "fast.m4a", "a.3gp", "a.webm", "a.mkv"])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, name: str, share: float) -> None:
    path = as_on_a_phone(tmp_path / name, DEMO, **({"movflags": "faststart"} if name == "fast.m4a" else {}))
    path.write_bytes(path.read_bytes()[: round(share * path.stat().st_size)])
    with pytest.raises(AudioFileError, match=f"{name}: .*could not read.*(damaged|cut off)") as refused:
        read_audio(path)
    assert "\n" not in str(refused.value)


@needs_decoder
def test_what_was_decoded_before_the_damage_is_delivered_and_counted(tmp_path: Path) -> None:
    path = as_on_a_phone(tmp_path / "a.m4a", DEMO, movflags="faststart")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    blocks: list[np.ndarray] = []
    with pytest.raises(AudioFileError) as refused, AudioFile(path) as file:
        blocks.extend(file.blocks())
    seconds = sum(map(len, blocks)) / 16_000
    assert seconds > 20
    assert f" {seconds:.2f} s" in str(refused.value)


@needs_decoder
def test_changed_bytes_give_audio_or_a_typed_error(tmp_path: Path) -> None:
    paths = [as_on_a_phone(tmp_path / name, CLIP) for name in FORMS]
    random = np.random.default_rng(0)
    for path in paths:
        data = np.frombuffer(path.read_bytes(), np.uint8)
        for _ in range(8):
            changed = data.copy()
            changed[random.integers(0, len(data), 20)] = random.integers(0, 256, 20)
            path.write_bytes(changed.tobytes())
            try:
                assert len(read_audio(path)) < 60 * 16_000
            except AudioFileError as error:
                assert str(error).startswith(f"{path}: ")  # noqa: PT017


@needs_decoder
@pytest.mark.parametrize("name", ["a.m4a", "a.aac"])
def test_what_is_decoded_far_above_full_scale_is_damage(tmp_path: Path, name: str) -> None:
    soundfile.write(tmp_path / "loud.wav", 61 * np.sin(0.1 * np.arange(32_000)), 16_000, subtype="FLOAT")
    path = as_on_a_phone(tmp_path / name, tmp_path / "loud.wav")
    with pytest.raises(AudioFileError, match=f"{name}: .*damaged after 0.00 s: samples far above full scale"):
        read_audio(path)


@needs_decoder
@pytest.mark.parametrize(
    "name", ["-i.m4a", "file:a.m4a", "concat:x|y.m4a", "a%d\n.m4a", "x.mp3", "x.snd", "\udce9.m4a"]
)
def test_a_file_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    wanted = as_on_a_phone(tmp_path / "a.m4a", CLIP)
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(wanted.read_bytes())
    assert np.array_equal(read_audio(name), read_audio(wanted))


@needs_decoder
def test_a_playlist_is_not_followed(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(16_000), 16_000)
    for text in ("#EXTM3U\n#EXTINF:1,\na.wav\n", "ffconcat version 1.0\nfile a.wav\n"):
        (tmp_path / "a.m4a").write_text(text)
        with pytest.raises(AudioFileError, match="it is damaged, or of another format"):
            AudioFile(tmp_path / "a.m4a")


@needs_decoder
def test_a_video_without_sound_is_named(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV, the extra [phones], is not installed")
    with av.open(str(tmp_path / "a.mp4"), "w") as video:
        stream = video.add_stream("mpeg4", rate=5, width=32, height=32)
        video.mux(stream.encode(av.VideoFrame(32, 32, "yuv420p")))
        video.mux(stream.encode(None))
    with pytest.raises(AudioFileError, match="it has no audio"):
        AudioFile(tmp_path / "a.mp4")


def test_what_libsndfile_reads_is_never_decoded_by_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_decoders(monkeypatch)
    for name in ("a.wav", "a.flac", "a.ogg", "a.mp3", "a.caf", "a.aiff", "a.au"):
        soundfile.write(tmp_path / name, np.zeros(1_600), 16_000)
        assert len(read_audio(tmp_path / name)) > 0
    assert container_of(b"") is None


HEADS = {
    "a.m4a": b"\0\0\0\x1cftypM4A ",
    "b.webm": b"\x1a\x45\xdf\xa3",
    "c.amr": b"#!AMR\n",
    "d.aac": b"\xff\xf1\x60\x40",
}


@pytest.mark.parametrize("name", HEADS)
def test_without_a_decoder_the_error_has_the_command_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    without_decoders(monkeypatch)
    (tmp_path / name).write_bytes(HEADS[name])
    with pytest.raises(AudioFileError, match=rf'{name}: .*PyAV, found none; pip install "wakeword\[phones\]"$'):
        FileSource(tmp_path / name)


def test_a_folder_without_a_decoder_warns_of_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    without_decoders(monkeypatch)
    for name in ("a.m4a", "b.WEBM", "c.amr", "d.aac", "e.ape", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(LeftOutError, match=r"left out 5 recordings: a\.m4a, b\.WEBM, c\.amr and 2 more; .*\[phones\]"):
        audio_files(tmp_path)
    (tmp_path / "f.wav").touch()
    assert audio_files(tmp_path) == [tmp_path / "f.wav"]
    assert len(caplog.messages) == 1
    assert "left out 5 recordings" in caplog.text
