/** One logit per hop for a window that slides over a stream of frames, equal to the logit of the whole window. */

import { ConfigError, ModelError } from "./errors.js";
import { CONFIG } from "./features.js";

/** @typedef {import("./model.js").Network} Network */

/**
 * Samples from the start of a stream to the end of the first window that covers its first `samples`.
 * @param {number} samples
 * @param {number} window samples in one window
 * @param {number} step samples between the starts of two windows
 */
export function coveringSamples(samples, window, step) {
  return window + Math.max(0, Math.ceil((samples - window) / step)) * step;
}

/**
 * The staggered windows of one network: each window in progress keeps its own state, as one row of a matrix, and one call
 * advances all rows by one hop. In each hop one row ends, is scored, and is replaced by a new one. If a window is not a
 * whole number of hops, a new row skips the first frames of its first hop.
 */
export class StaggeredWindows {
  /** Windows still to end that began before the stream. */
  _skipped = 0;
  /** Frames of the next hop that have come. */
  _filled = 0;
  /** Oldest row first. @type {Float32Array[]} */
  _state = [];

  /**
   * @param {Network} network
   * @param {number} hop frames between the ends of two windows. Throws `ConfigError` for one that the network cannot take.
   */
  constructor(network, hop) {
    const { window, stack, phrase } = network.card;
    if (!Number.isInteger(hop) || hop < 1 || hop > window || hop % stack) {
      throw new ConfigError(
        `expected a hop of 1..${window} frames (the window), a multiple of the ${stack} that the network of '${phrase}' ` +
          `takes at a time, got ${hop}`,
      );
    }
    this.hop = hop;
    this._network = network;
    this._rows = Math.ceil(window / hop);
    this._late = this._rows * hop - window;
    const steps = hop / stack;
    const lateSteps = this._late / stack;
    this._picks = network.picks(steps, this._rows);
    // The last row is the new one.
    for (let step = 0; step < lateSteps; step++) {
      this._picks.fill(0, (step * this._rows + this._rows - 1) * steps, (step * this._rows + this._rows) * steps);
    }
    this._begun = network.start(1, lateSteps);
    this._frames = new Float32Array(hop * CONFIG.n_mfcc);
    this.reset();
  }

  /** Forget all frames; the next one begins the first window. */
  reset() {
    // Until the first window is complete, the older rows hold windows that began before the stream: not returned.
    this._skipped = this._rows - 1;
    this._state = this._begun.map((part) => {
      const rows = new Float32Array(part.length * this._rows);
      for (let row = 0; row < this._rows; row++) rows.set(part, row * part.length);
      return rows;
    });
    // The first window skips the first frames of its hop, like all others.
    this._frames.fill(0);
    this._filled = this._late;
  }

  /**
   * Append frames; the logits of the windows now complete.
   * @param {Float32Array} frames `(frames, n_mfcc)` row by row
   * @returns {Promise<number[]>}
   */
  async push(frames) {
    const width = CONFIG.n_mfcc;
    const found = [];
    for (let start = 0; start < frames.length / width; ) {
      const taken = Math.min(frames.length / width - start, this.hop - this._filled);
      this._frames.set(frames.subarray(start * width, (start + taken) * width), this._filled * width);
      this._filled += taken;
      start += taken;
      if (this._filled < this.hop) break;
      this._filled = 0;
      const logit = await this._advance();
      if (this._skipped) this._skipped -= 1;
      else found.push(logit);
    }
    return found;
  }

  /** Advance all rows by one hop: the logit of the oldest, whose place the next one takes. */
  async _advance() {
    const { logits, state } = await this._network.advance(this._frames, this._state, this._rows, this._picks);
    state.forEach((part, i) => {
      const begun = this._begun[i];
      this._state[i].set(part.subarray(begun.length));
      this._state[i].set(begun, part.length - begun.length);
    });
    if (!Number.isFinite(logits[0])) throw new ModelError("the network gave a score that is no number");
    return logits[0];
  }
}
