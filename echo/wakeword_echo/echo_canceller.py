"""Takes the echo of a loudspeaker out of a microphone's audio, given what the loudspeaker gets.

The filter is a frequency-domain adaptive Kalman filter in partitions (Enzner and Vary 2006; Kuech et al. 2014): each step
is as large as what is still unknown of a partition, against what is not echo. Someone who speaks over the echo
therefore makes steps small instead of spoiling the filter. Blocks as long as a hop of the engine cost least, and four
partitions reach over a delay of 500 ms and the room's first 140 ms: no search for the delay is needed.
"""

import logging
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Array

logger = logging.getLogger(__name__)

ECHO_BLOCK = 2_560
"""Samples in a block: 160 ms, as many as between two windows."""
_PARTITIONS = 4
ECHO_SAMPLES = _PARTITIONS * ECHO_BLOCK
"""Samples for which a sound of the loudspeaker stays in the echo that is taken out, its delay included."""
_COVARIANCE_DECAY = np.float32(0.998**2)
"""Share of the filter's covariance that remains certain from block to block."""
_SMOOTHING = np.float32(0.8)
_LEARNED_ERROR_SHARE = 0.4
"""Share of the filter's errors in what is left of a block, up to which it learns from every second block alone."""
_INITIAL_VARIANCE = 10.0
"""Variance of a filter that is not known yet: the echo may be 10 dB louder than what the loudspeaker gets."""
_SILENT = ECHO_BLOCK * 10 ** (-80 / 10)
"""Energy up to which a block of the reference is silent: -80 dB of full scale."""
_COPY_CORRELATION = 0.98
"""Correlation of a block from which the reference is the microphone at the same moment."""
_MAX_DRIFT = 300e-6
_DELAY_STEP, _RATE_STEP = 1.0, 0.3
"""Share of an error in time that corrects the filter, and the speed at which the reference is read."""

_FRACTIONS = 64
"""Steps of a sample in which something is delayed."""

Spectrum = NDArray[np.complex64]

_OMEGA: Array = (np.arange(ECHO_BLOCK + 1) * (np.pi / ECHO_BLOCK)).astype(np.float32)
"""The angle of each bin in a sample."""


@lru_cache(maxsize=2 * _FRACTIONS)
def _delay_of(steps: int) -> Spectrum:
    """What a delay of ``steps`` / 64 of a sample makes of a spectrum, as a factor; a new one takes longer than a filter."""
    delay: Spectrum = np.exp(np.complex64(-1j * steps / _FRACTIONS) * _OMEGA)
    return delay


class EchoCanceller:
    """Cancels block by block. State of one stream; not safe for use by several threads.

    The clocks of loudspeaker and microphone may differ: ``shift`` is how many samples earlier than its own number the
    reference must be read, and follows the difference.
    """

    def __init__(self) -> None:
        bins = ECHO_BLOCK + 1
        self._weights: Spectrum = np.zeros((_PARTITIONS, bins), np.complex64)
        self._variance: Array = np.full((_PARTITIONS, bins), _INITIAL_VARIANCE, np.float32)
        # The newest spectrum stands first, and the older ones after it: written twice, so that they are always one slice.
        self._spectra: Spectrum = np.zeros((2 * _PARTITIONS, bins), np.complex64)
        self._powers: Array = np.zeros((2 * _PARTITIONS, bins), np.float32)
        self._rest: Array = np.full(bins, 1e-6 * ECHO_BLOCK, np.float32)
        """Power of what is not echo, smoothed."""
        self._padded: Array = np.zeros(2 * ECHO_BLOCK, np.float32)
        # New arrays for each block would cost as much as the arithmetic.
        self._products: Spectrum = np.zeros((_PARTITIONS, bins), np.complex64)
        self._unknown: Array = np.zeros((_PARTITIONS, bins), np.float32)
        self._turn = self._learned = 0
        self._teaches = 1.0
        """Share of the filter's errors in what was left of the last block that it learned from, mean of its bins."""
        self._loud = self._number = 0
        """Blocks until the loudspeaker's sound has left the filter."""
        self.is_copy = self._warned = False
        """Whether the newest block of the reference was the microphone itself."""
        self.rate = 0.0
        """Samples by which ``shift`` grows in a block."""
        self.shift = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether nothing has come from the loudspeaker for so long that the next block of silence passes unchanged."""
        return not self._loud

    def restart(self) -> None:
        """Begin with a reference at its own number again, after a pause in which its place may have changed."""
        self.shift = 0.0
        self._spectra[:] = 0
        self._powers[:] = 0
        self._variance += _power(self._weights)
        np.minimum(self._variance, _INITIAL_VARIANCE, out=self._variance)

    def cancel(self, microphone: Array, reference: Array, number: int, *, learn: bool = True) -> Array:
        """The next block of the microphone, ``(2560,)`` float32, without the echo; the same array if there is none.

        ``reference``: ``(5120,)``, the block before and the block at the same time, read ``int(shift)`` samples earlier.
        ``number`` counts blocks, and silent ones may be left out. The first block after silence passes unchanged.
        """
        newest = reference[ECHO_BLOCK:]
        is_silent = float(newest @ newest) <= _SILENT
        self.is_copy = self._is_copy(microphone, newest, is_silent=is_silent)
        if self.is_idle:
            if not is_silent and not self.is_copy:
                self._loud = _PARTITIONS + 1
                self.shift += self.rate * (number - self._number)
                self._number = number
                self._take(np.concatenate((np.zeros_like(newest), newest)), self.shift % 1.0)
            return microphone
        self._loud = self._loud - 1 if is_silent else _PARTITIONS + 1
        fraction = self.shift % 1.0
        self.shift += self.rate
        self._number = number
        if self.is_copy:
            return microphone
        self._take(reference, fraction)
        spectra = self._spectra[self._turn : self._turn + _PARTITIONS]
        echo: Spectrum = np.multiply(self._weights, spectra, out=self._products).sum(0)
        rest: Array = (microphone - np.fft.irfft(echo, 2 * ECHO_BLOCK)[ECHO_BLOCK:]).astype(np.float32, copy=False)
        left = float(rest @ rest)
        if learn and (number % 2 or self._teaches > _LEARNED_ERROR_SHARE):
            self._learn(rest, echo, spectra)
        # While the filter is still wrong, the echo is better left as it is.
        return rest if left <= float(microphone @ microphone) else microphone

    def _is_copy(self, microphone: Array, newest: Array, *, is_silent: bool) -> bool:
        """Whether the reference is the microphone at the same moment: then the filter would take out the user's voice."""
        product = float(newest @ microphone)
        found = product * product > _COPY_CORRELATION**2 * float(newest @ newest) * float(microphone @ microphone)
        if found and not is_silent and not self._warned:
            logger.warning(
                "the playback reference is the microphone itself, so nothing is taken out; give what the loudspeaker gets"
            )
            self._warned = True
        return found

    def _take(self, reference: Array, fraction: float) -> None:
        """Put the spectrum of the newest reference, at its fraction of a sample, before the others."""
        self._turn = (self._turn - 1) % _PARTITIONS
        spectrum: Spectrum = np.fft.rfft(reference).astype(np.complex64, copy=False)
        steps = round(fraction * _FRACTIONS)
        if steps:
            spectrum *= _delay_of(steps)
        power = _power(spectrum)
        for turn in (self._turn, self._turn + _PARTITIONS):
            self._spectra[turn], self._powers[turn] = spectrum, power

    def _learn(self, rest: Array, echo: Spectrum, spectra: Spectrum) -> None:
        """Improve the filter by what is left of a block, ``(2560,)``; ``echo`` is what was found of it."""
        self._padded[ECHO_BLOCK:] = rest
        error: Spectrum = np.fft.rfft(self._padded).astype(np.complex64, copy=False)
        self._rest *= _SMOOTHING
        self._rest += (1 - _SMOOTHING) * _power(error) + np.float32(1e-9)
        unknown = np.multiply(self._variance, self._powers[self._turn : self._turn + _PARTITIONS], out=self._unknown)
        # Half of it would do for noise (Kuech et al.), but takes a first block that is half silent for certain.
        all_unknown = unknown.sum(0)
        weight = 1 / (all_unknown + self._rest)
        self._teaches = float(weight @ all_unknown) / len(weight)
        error *= weight
        delay = self._follow_clock(error, echo, weight)
        step = np.conj(spectra, out=self._products)
        step *= self._variance
        step *= error
        self._weights += step
        unknown *= (-0.5 * _COVARIANCE_DECAY) * weight
        unknown += _COVARIANCE_DECAY
        self._variance *= unknown
        partition = self._learned % _PARTITIONS
        self._learned += 1
        weights = self._weights[partition]
        # A partition is as long as a block: the other half of its response is error. One in each block is enough.
        response = np.fft.irfft(weights, 2 * ECHO_BLOCK)
        response[ECHO_BLOCK:] = 0
        weights[:] = np.fft.rfft(response)
        moved = np.float32(2 * delay) * _OMEGA
        moved *= moved
        moved += 1 - _COVARIANCE_DECAY
        moved *= _PARTITIONS * _power(weights)
        self._variance[partition] += moved

    def _follow_clock(self, error: Spectrum, echo: Spectrum, weight: Array) -> float:
        """Correct the filter and ``rate`` by the delay that explains most of the weighted ``error``; return it, samples.

        A delay of t samples changes the echo by ``-j omega t`` times itself; t is the weighted least squares solution.
        """
        turned = echo * _OMEGA
        explained = float(np.vdot(error, turned).imag)
        turned *= weight * _OMEGA
        certain = 0.5 * float(np.vdot(echo, turned).real)
        # From 20 on the error in time is below a quarter of a sample.
        delay = max(-1.0, min(1.0, explained / (certain + 1e-9))) * certain / (certain + 20)
        # Not in ``shift``: that changes the echo only after its own delay, and a loop with such a delay swings.
        steps = round(_DELAY_STEP * delay * _FRACTIONS)
        if steps:
            self._weights *= _delay_of(steps)
        most = _MAX_DRIFT * ECHO_BLOCK
        self.rate = max(-most, min(most, self.rate + _RATE_STEP * delay))
        return delay


def _power(spectrum: Spectrum) -> Array:
    power: Array = spectrum.real**2
    power += spectrum.imag**2
    return power
