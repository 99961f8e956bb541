"""A speaker embedding of short recordings, with the weights that the package Resemblyzer ships.

Resemblyzer (Apache 2.0) is read and not imported, as ``pip install --no-deps Resemblyzer`` leaves it: the network is three
layers of an LSTM over mel frames and a projection (Wan et al., 2018), which this module builds itself.
"""

import numpy as np
import torch
from librosa.effects import trim
from librosa.feature import melspectrogram
from torch import Tensor, nn

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword_experiments.packaged import packaged_file

RESEMBLYZER = "Resemblyzer"
_MELS, _UNITS = 40, 256
_FRAMES, _STEP = 160, 80
"""Frames of 10 ms in a window, and between the beginnings of two."""
_SHORTEST = 25_840
"""Samples to which a shorter recording is repeated: a window."""
_LEVEL, _TRIM = -30.0, 30.0
"""dB of full scale to which recordings are brought, and dB below the loudest part from which the ends are cut."""


class SpeakerEncoder(nn.Module):
    """From one recording to the direction of its speaker's voice."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(_MELS, _UNITS, 3, batch_first=True)
        self.linear = nn.Linear(_UNITS, _UNITS)

    @classmethod
    def pretrained(cls) -> "SpeakerEncoder":
        """With Resemblyzer's weights. Raises ``DataError`` if that package is not installed."""
        encoder = cls()
        path = packaged_file(RESEMBLYZER, "resemblyzer/pretrained.pt")
        state = torch.load(path, map_location="cpu", weights_only=True)["model_state"]
        encoder.load_state_dict({name: state[name] for name in encoder.state_dict()})
        return encoder.eval()

    def forward(self, frames: Tensor) -> Tensor:
        """Mel frames ``(windows, frames, 40)`` -> directions ``(windows, 256)`` of length 1."""
        hidden: Tensor = self.lstm(frames)[1][0][-1]
        return nn.functional.normalize(torch.relu(self.linear(hidden)), dim=1)

    @torch.no_grad()
    def embed(self, samples: Array) -> Array:
        """Samples at 16 kHz ``(n,)`` -> ``(256,)`` float32 of length 1."""
        level = max(1e-6, float(np.sqrt(np.square(samples).mean())))
        loud = samples * (10 ** (_LEVEL / 20) / level)
        voice = trim(loud, top_db=_TRIM)[0]
        voice = np.tile(voice, -(-_SHORTEST // len(voice))) if len(voice) < _SHORTEST else voice
        mel = melspectrogram(y=voice, sr=SAMPLE_RATE, n_fft=400, hop_length=160, n_mels=_MELS).T
        starts = range(0, max(1, len(mel) - _FRAMES + 1), _STEP)
        windows = np.stack([mel[start : start + _FRAMES] for start in starts]).astype(np.float32)
        mean = self(torch.from_numpy(windows)).mean(dim=0)
        direction: Array = (mean / mean.norm()).numpy()
        return direction
