/**
 * The speech embedding, a network that all words share, as a stream of 96 numbers every 80 ms.
 *
 * `wakeword/verify/embedding.py` gives the reasons for the numbers here.
 */

import { ModelError } from "./errors.js";
import { CONFIG, hannWindow, samplesIn } from "./features.js";
import { PowerSpectrum } from "./fft.js";
import { inputShapes, openSession, runSession } from "./runtime.js";

/** @typedef {import("./runtime.js").Ort} Ort */
/** @typedef {import("./runtime.js").Session} Session */
/** @typedef {(start: number, end: number) => Float32Array} SamplesOf the samples from one number to another, zeros outside */

export const DIMENSION = 96;
const STEP_FRAMES = 8;
const N_FFT = 512;
const BINS = N_FFT / 2 + 1;
/** Steps from the beginning of a stream before its first embedding that saw all its 76 frames. */
const WARM_UP = 9;
/** Samples by which a frame begins before the MFCC frame of its number. */
const BEFORE = 56;
const STEP = STEP_FRAMES * CONFIG.hop_length;
/** Samples of a step's last frame that belong to the next step too. */
const SHARED = CONFIG.n_fft - CONFIG.hop_length;
/** Steps in one call on the way from a beginning. */
const TOGETHER = 5;
/** Embeddings that are kept for other keywords, whose windows of the same audio come later. */
const CACHED = 40;

/** Samples before the end of an MFCC frame that the newest embeddings at that frame depend on. @param {number} count */
export function reach(count) {
  return samplesIn((count + WARM_UP) * STEP_FRAMES + STEP_FRAMES - 1) + BEFORE;
}

/** The embedding network, or the quick recogniser: a network of the same form with other outputs. */
export class EmbeddingNetwork {
  /** @param {Ort} ort @param {Session} session */
  constructor(ort, session) {
    this._ort = ort;
    this._session = session;
    const shapes = inputShapes(session);
    if (shapes.get("power")?.[1] !== BINS) {
      throw new ModelError(`expected an embedding network of power spectra, got one of ${[...shapes.keys()].join(", ")}`);
    }
    shapes.delete("power");
    this._caches = [...shapes].map(([name, shape]) => ({ name, shape: shape.map(Number) }));
  }

  /** @param {Ort} ort @param {Uint8Array} data */
  static async open(ort, data) {
    return new EmbeddingNetwork(ort, await openSession(ort, data));
  }

  /** What is kept between steps, before the first. */
  start() {
    return this._caches.map(({ shape }) => new Float32Array(shape.reduce((product, size) => product * size, 1)));
  }

  /**
   * Advance by n steps: spectra `(8 n, 257)` -> embeddings `(n, 96)` and the next caches.
   * @param {Float32Array} power
   * @param {Float32Array[]} caches
   */
  async advance(power, caches) {
    const { Tensor } = this._ort;
    /** @type {import("./runtime.js").Tensors} */
    const inputs = { power: new Tensor("float32", power, [power.length / BINS, BINS]) };
    this._caches.forEach(({ name, shape }, i) => {
      inputs[name] = new Tensor("float32", caches[i], shape);
    });
    const outputs = await runSession(this._session, inputs);
    return {
      embeddings: /** @type {Float32Array} */ (outputs.embeddings.data),
      caches: this._caches.map(({ name }) => /** @type {Float32Array} */ (outputs[`${name}_next`].data)),
    };
  }
}

/** The embeddings of one stream, computed where they are asked for. Embedding `k` ends with frame `8 k + 7`. */
export class EmbeddingStream {
  /** @type {Map<number, Float32Array>} */
  _known = new Map();
  /** The next step, and the first one that does not depend on where the steps began. */
  _next = 0;
  _exactFrom = 0;
  /** @type {Float32Array[] | null} */
  _caches = null;

  /** @param {EmbeddingNetwork} network */
  constructor(network) {
    this._network = network;
    this._spectrum = new PowerSpectrum(N_FFT);
    this._window = hannWindow(CONFIG.n_fft).map((weight) => weight * 32_767);
    this._windowed = new Float64Array(N_FFT);
  }

  /** Begin a new stream. */
  reset() {
    this._known.clear();
    this._next = 0;
    this._exactFrom = 0;
    this._caches = null;
  }

  /**
   * The newest embeddings that end at an MFCC frame or before, `(count, 96)`, oldest first.
   * @param {number} frame
   * @param {number} count
   * @param {SamplesOf} samplesOf
   * @returns {Promise<Float32Array>}
   */
  async newest(frame, count, samplesOf) {
    const last = Math.floor((frame + 1) / STEP_FRAMES) - 1;
    const wanted = Array.from({ length: count }, (_, i) => last - count + 1 + i);
    const missing = wanted.find((step) => !this._known.has(step));
    if (missing !== undefined) await this._compute(missing, last, samplesOf);
    const rows = wanted.map((step) => /** @type {Float32Array} */ (this._known.get(step)));
    const found = new Float32Array(count * rows[0].length);
    rows.forEach((row, number) => found.set(row, number * row.length));
    for (const step of this._known.keys()) if (step <= last - CACHED) this._known.delete(step);
    return found;
  }

  /** @param {number} first @param {number} last @param {SamplesOf} samplesOf */
  async _compute(first, last, samplesOf) {
    // Go on from the last step unless a new beginning is cheaper or the stream is past the first already.
    const isReady = Math.max(this._next, this._exactFrom) <= first && first <= this._next + WARM_UP;
    let caches = this._caches;
    if (!caches || !isReady) {
      caches = this._network.start();
      this._next = first - WARM_UP;
      this._exactFrom = first;
    }
    this._caches = null; // what is half done counts for nothing if a call fails
    let next = this._next;
    while (next <= last) {
      const steps = last - next + 1 >= TOGETHER ? TOGETHER : 1;
      const start = next * STEP - BEFORE;
      const power = this._power(samplesOf(start, start + steps * STEP + SHARED), steps * STEP_FRAMES);
      const advanced = await this._network.advance(power, caches);
      caches = advanced.caches;
      const width = advanced.embeddings.length / steps;
      for (let i = 0; i < steps; i++, next++) {
        const embedding = advanced.embeddings.slice(i * width, (i + 1) * width);
        if (next >= this._exactFrom) this._known.set(next, embedding);
      }
    }
    this._caches = caches;
    this._next = next;
  }

  /** @param {Float32Array} samples @param {number} frames */
  _power(samples, frames) {
    const power = new Float32Array(frames * BINS);
    for (let frame = 0; frame < frames; frame++) {
      const start = frame * CONFIG.hop_length;
      for (let n = 0; n < CONFIG.n_fft; n++) this._windowed[n] = samples[start + n] * this._window[n];
      this._spectrum.compute(this._windowed, power, frame * BINS);
    }
    return power;
  }
}
