/** Mel-frequency cepstral coefficients (MFCC) of 16 kHz speech, with the parameters of the Python package. */

import { PowerSpectrum } from "./fft.js";

export const SAMPLE_RATE = 16_000;

/** The parameters, under the names that a model's card has for them. */
export const CONFIG = Object.freeze({
  sample_rate: SAMPLE_RATE,
  n_fft: 400,
  hop_length: 160,
  n_mels: 32,
  n_mfcc: 32,
  f_min: 20,
  f_max: 7_600,
  log_offset: 1e-6,
});

/** Number of whole frames in so many samples. @param {number} samples */
export function framesIn(samples) {
  return Math.max(0, 1 + Math.floor((samples - CONFIG.n_fft) / CONFIG.hop_length));
}

/** Number of samples that so many frames span. @param {number} frames */
export function samplesIn(frames) {
  return frames <= 0 ? 0 : CONFIG.n_fft + (frames - 1) * CONFIG.hop_length;
}

/** Periodic Hann window, in the precision of float32 as in Python. @param {number} size */
export function hannWindow(size) {
  return Float64Array.from({ length: size }, (_, n) => Math.fround(0.5 - 0.5 * Math.cos((2 * Math.PI * n) / size)));
}

/**
 * Triangular filters, evenly spaced on the HTK mel scale: of each its first bin, and its weights from there on.
 * Source: Young et al., "The HTK Book", section 5.4, `mel = 2595 log10(1 + f / 700)`.
 */
function melFilters() {
  const { n_fft, n_mels, f_min, f_max, sample_rate } = CONFIG;
  const [low, high] = [f_min, f_max].map((f) => 2595 * Math.log10(1 + f / 700));
  const edges = Array.from({ length: n_mels + 2 }, (_, i) => {
    const mel = low + ((high - low) * i) / (n_mels + 1);
    return 700 * (10 ** (mel / 2595) - 1);
  });
  return Array.from({ length: n_mels }, (_, mel) => {
    const [start, centre, end] = edges.slice(mel, mel + 3);
    const weights = Array.from({ length: n_fft / 2 + 1 }, (_, bin) => {
      const f = (bin * sample_rate) / n_fft;
      return Math.fround(Math.max(0, Math.min((f - start) / (centre - start), (end - f) / (end - centre))));
    });
    const first = weights.findIndex((weight) => weight > 0);
    const last = weights.length - 1 - [...weights].reverse().findIndex((weight) => weight > 0);
    return { first, weights: Float64Array.from(weights.slice(first, last + 1)) };
  });
}

/** Orthonormal DCT-II, `(n_mfcc, n_mels)` row by row. */
function dctMatrix() {
  const { n_mels, n_mfcc } = CONFIG;
  return Float64Array.from({ length: n_mels * n_mfcc }, (_, i) => {
    const [k, n] = [Math.floor(i / n_mels), i % n_mels];
    const scale = Math.sqrt((k === 0 ? 1 : 2) / n_mels);
    return Math.fround(Math.cos((Math.PI / n_mels) * (n + 0.5) * k) * scale);
  });
}

/** MFCC of whole signals; keeps its working arrays. */
export class Mfcc {
  constructor() {
    this._window = hannWindow(CONFIG.n_fft);
    this._spectrum = new PowerSpectrum(CONFIG.n_fft);
    this._filters = melFilters();
    this._dct = dctMatrix();
    this._windowed = new Float64Array(CONFIG.n_fft);
    this._power = new Float64Array(CONFIG.n_fft / 2 + 1);
    this._log = new Float64Array(CONFIG.n_mels);
  }

  /**
   * The whole frames of a signal, `(frames, n_mfcc)` row by row.
   * @param {Float32Array} signal `(samples,)` at 16 kHz
   * @param {Float32Array} [logMel] `(frames, n_mels)`, if given written with the logarithms of the mel energies
   * @returns {Float32Array}
   */
  compute(signal, logMel) {
    const { n_fft, hop_length, n_mels, n_mfcc, log_offset } = CONFIG;
    const count = framesIn(signal.length);
    const found = new Float32Array(count * n_mfcc);
    for (let frame = 0; frame < count; frame++) {
      const start = frame * hop_length;
      for (let n = 0; n < n_fft; n++) this._windowed[n] = signal[start + n] * this._window[n];
      this._spectrum.compute(this._windowed, this._power);
      this._filters.forEach(({ first, weights }, mel) => {
        let energy = log_offset;
        for (let i = 0; i < weights.length; i++) energy += this._power[first + i] * weights[i];
        this._log[mel] = Math.log(energy);
      });
      logMel?.set(this._log, frame * n_mels);
      for (let k = 0; k < n_mfcc; k++) {
        let sum = 0;
        for (let n = 0; n < n_mels; n++) sum += this._dct[k * n_mels + n] * this._log[n];
        found[frame * n_mfcc + k] = sum;
      }
    }
    return found;
  }
}

/**
 * A rising harmonic sweep with a 5 Hz syllable rhythm and a little noise, for which a card holds the network's logit.
 * @param {number} samples
 * @returns {Float32Array}
 */
export function selfTestSignal(samples) {
  return Float32Array.from({ length: samples }, (_, n) => {
    const t = n / SAMPLE_RATE;
    const phase = 2 * Math.PI * (120 * t + 90 * t * t);
    let voice = 0;
    for (let k = 1; k < 12; k++) voice += Math.sin(k * phase) / k;
    const noise = (Math.sin(n * 12.9898) * 43_758.5453) % 1;
    return 0.1 * voice * (0.55 - 0.45 * Math.cos(2 * Math.PI * 5 * t)) + 0.003 * noise;
  });
}
