/** Steady quiet: audio that cannot contain a word, recognised by its level alone. `wakeword/gate.py` gives the reasons. */

import { SAMPLE_RATE } from "./features.js";

/** Samples per energy value: 5 ms. */
const BLOCK = SAMPLE_RATE / 200;
/** Energy of a block at -60 dB of full scale. */
const LOUDEST = BLOCK * 10 ** (-60 / 10);
/** Added to energies of 10 ms: single steps of a 16-bit converter do not count as a change. */
const FAINTEST = 2 * BLOCK * 10 ** (-95 / 10);
/** Largest ratio of any energy of 10 ms to the mean of all, and of that mean to any of them. */
const STEADY = 2;

/** Decides whether the newest stretch of audio is quiet and stationary throughout. */
export class QuietGate {
  _quietBlocks = 0;
  _rest = new Float32Array(0);

  /** @param {number} samples the length of the stretch */
  constructor(samples) {
    this._width = 2 * (Math.ceil(samples / (2 * BLOCK)) + 1);
    this._energies = [new Float32Array(this._width), new Float32Array(this._width)];
  }

  /** Begin a new stream, which counts as loud until a whole stretch of it was pushed. */
  reset() {
    this._quietBlocks = 0;
    this._rest = new Float32Array(0);
  }

  /**
   * Append samples; return whether the stretch that ends with them is quiet.
   * @param {Float32Array} samples
   * @returns {boolean}
   */
  push(samples) {
    if (this._rest.length) {
      const joined = new Float32Array(this._rest.length + samples.length);
      joined.set(this._rest);
      joined.set(samples, this._rest.length);
      samples = joined;
    }
    const count = Math.floor(samples.length / BLOCK);
    this._rest = samples.slice(count * BLOCK);
    const width = this._width;
    const [levels, changes] = this._energies;
    const skipped = Math.max(0, count - width);
    const added = count - skipped;
    for (const energies of this._energies) energies.copyWithin(0, added);
    for (let block = skipped; block < count; block++) {
      const start = block * BLOCK;
      let level = samples[start] ** 2;
      let change = 0;
      for (let n = start + 1; n < start + BLOCK; n++) {
        level += samples[n] ** 2;
        change += (samples[n] - samples[n - 1]) ** 2;
      }
      levels[width - count + block] = level;
      changes[width - count + block] = change;
    }
    this._quietBlocks += count;
    return this._quietBlocks >= width && levels.every((level) => level <= LOUDEST) && this._energies.every(isSteady);
  }
}

/** @param {Float32Array} energies */
function isSteady(energies) {
  let sum = 0;
  let highest = 0;
  let lowest = Infinity;
  for (let i = 0; i < energies.length; i += 2) {
    const pair = energies[i] + energies[i + 1];
    sum += pair;
    highest = Math.max(highest, pair);
    lowest = Math.min(lowest, pair);
  }
  const mean = (2 * sum) / energies.length + FAINTEST;
  return highest + FAINTEST <= STEADY * mean && mean <= STEADY * (lowest + FAINTEST);
}
