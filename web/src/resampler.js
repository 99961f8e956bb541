/** Audio of any rate -> 16 kHz, as one continuous signal however it is cut into blocks. */

import { AudioFormatError } from "./errors.js";
import { SAMPLE_RATE } from "./features.js";

const MIN_RATE = 8_000;
const MAX_RATE = 192_000;
/** Share of half the lower rate that passes; from half the lower rate on nothing does. As soxr in high quality. */
const PASS = 0.913;
/** Attenuation in the stop band, dB. */
const STOP = 100;
/** More positions than these between two input samples are interpolated: a step of 1/1024 is 100 dB below the signal. */
const MAX_PHASES = 1_024;
/** Float samples far above full scale are integers that were not divided. */
const MAX_LEVEL = 16;

/** @typedef {{ taps: number, phases: number, table: Float32Array }} Filter `table`: `(phases + 1, taps)` row by row */

/** @type {Map<number, Filter>} */
const filters = new Map();

/**
 * A low pass, sampled at `phases` positions between two input samples: a windowed sinc (Kaiser).
 * @param {number} rate
 * @returns {Filter}
 */
function filterOf(rate) {
  const known = filters.get(rate);
  if (known) return known;
  const nyquist = Math.min(rate, SAMPLE_RATE) / 2;
  const cutoff = ((1 + PASS) / 2) * nyquist;
  const width = (1 - PASS) * nyquist;
  // Kaiser's formulas for the length and the shape of the window.
  const half = Math.ceil((STOP - 8) / (2.285 * 2 * Math.PI * (width / rate)) / 2);
  const beta = 0.1102 * (STOP - 8.7);
  const phases = Math.min(MAX_PHASES, SAMPLE_RATE / gcd(rate, SAMPLE_RATE));
  const taps = 2 * half;
  const table = new Float32Array((phases + 1) * taps);
  for (let phase = 0; phase <= phases; phase++) {
    let sum = 0;
    const row = table.subarray(phase * taps, (phase + 1) * taps);
    for (let tap = 0; tap < taps; tap++) {
      const x = tap - half + 1 - phase / phases;
      const inside = 1 - (x / half) ** 2;
      const turn = (2 * Math.PI * cutoff * x) / rate;
      row[tap] = inside <= 0 ? 0 : (turn ? Math.sin(turn) / turn : 1) * bessel(beta * Math.sqrt(inside));
      sum += row[tap];
    }
    for (let tap = 0; tap < taps; tap++) row[tap] /= sum;
  }
  const filter = { taps, phases, table };
  filters.set(rate, filter);
  return filter;
}

/** The modified Bessel function of order 0. @param {number} x */
function bessel(x) {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** @param {number} a @param {number} b @returns {number} */
function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

/** A sample rate that can be resampled. Throws `AudioFormatError` for another. @param {unknown} rate @returns {number} */
export function checkedRate(rate) {
  if (typeof rate !== "number" || !Number.isInteger(rate) || rate < MIN_RATE || rate > MAX_RATE) {
    throw new AudioFormatError(`expected a sample rate of ${MIN_RATE} to ${MAX_RATE} Hz, got ${rate}`);
  }
  return rate;
}

/** Samples that can be used. Throws `AudioFormatError` for others. @param {unknown} samples @returns {Float32Array} */
export function checkedSamples(samples) {
  if (!(samples instanceof Float32Array)) {
    const got = /** @type {any} */ (samples)?.constructor?.name ?? String(samples);
    throw new AudioFormatError(`expected samples as a Float32Array in -1..1, got ${got}`);
  }
  let peak = 0;
  for (const sample of samples) {
    const level = Math.abs(sample);
    // Not "level > peak": a NaN must be seen.
    if (!(level <= peak)) peak = level;
    if (peak !== peak) break;
  }
  if (!(peak <= MAX_LEVEL)) {
    throw new AudioFormatError(`expected finite samples in -1..1, got a peak of ${peak}; divide integers by their full scale`);
  }
  return samples;
}

/** Blocks of one rate -> 16 kHz. Sample `i` of the output is the sound at `i / 16000` seconds. */
export class Resampler {
  /** The input that is still needed, and the number of its first sample. */
  _kept = new Float32Array(0);
  _first = 0;
  /** Samples of the output and of the input so far. */
  _made = 0;
  _taken = 0;

  /** @param {number} rate Hz. Throws `AudioFormatError` for one that cannot be resampled. */
  constructor(rate) {
    this.rate = checkedRate(rate);
    this._filter = rate === SAMPLE_RATE ? null : filterOf(rate);
    this.reset();
  }

  /** Forget the signal so far. */
  reset() {
    const half = this._filter ? this._filter.taps / 2 : 0;
    // The input that is still needed begins with silence, so that the first output is the first input's moment.
    this._kept = new Float32Array(Math.max(0, half - 1));
    this._first = -this._kept.length;
    this._made = 0;
    this._taken = 0;
  }

  /**
   * The 16 kHz samples that a block completes.
   * @param {Float32Array} block mono
   * @returns {Float32Array}
   */
  push(block) {
    if (!this._filter) return block;
    this._taken += block.length;
    const input = new Float32Array(this._kept.length + block.length);
    input.set(this._kept);
    input.set(block, this._kept.length);
    return this._produce(input, Infinity);
  }

  /** End the signal: what is still held, as if silence followed. Then begin a new one. @returns {Float32Array} */
  flush() {
    if (!this._filter) return new Float32Array(0);
    const input = new Float32Array(this._kept.length + this._filter.taps);
    input.set(this._kept);
    const rest = this._produce(input, Math.round((this._taken * SAMPLE_RATE) / this.rate));
    this.reset();
    return rest;
  }

  /** @param {Float32Array} input @param {number} most number of output samples of the whole signal */
  _produce(input, most) {
    const { taps, phases, table } = /** @type {Filter} */ (this._filter);
    const half = taps / 2;
    const last = this._first + input.length - half;
    const room = Math.max(0, Math.ceil(((last - this._first + half) * SAMPLE_RATE) / this.rate) + 2);
    const output = new Float32Array(room);
    let count = 0;
    for (; this._made < most; count++, this._made++) {
      // Whole numbers as long as they are below 2^53: no drift in months.
      const position = this._made * this.rate;
      const whole = Math.floor(position / SAMPLE_RATE);
      if (whole >= last) break;
      const place = ((position - whole * SAMPLE_RATE) * phases) / SAMPLE_RATE;
      const phase = Math.floor(place);
      const share = place - phase;
      const start = whole - half + 1 - this._first;
      output[count] = dot(input, start, table, phase * taps, taps);
      if (share) output[count] += share * (dot(input, start, table, (phase + 1) * taps, taps) - output[count]);
    }
    const needed = Math.floor((this._made * this.rate) / SAMPLE_RATE) - half + 1;
    this._kept = input.slice(Math.max(0, needed - this._first));
    this._first = Math.max(this._first, needed);
    return output.slice(0, count);
  }
}

/** @param {Float32Array} a @param {number} i @param {Float32Array} b @param {number} j @param {number} count */
function dot(a, i, b, j, count) {
  let sum = 0;
  for (let n = 0; n < count; n++) sum += a[i + n] * b[j + n];
  return sum;
}
