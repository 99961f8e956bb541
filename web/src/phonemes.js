/** The phoneme recogniser, a network that all words share, and how well a word's phonemes fit what it hears. */

import { ModelError } from "./errors.js";
import { checkedMetadata } from "./protobuf.js";
import { openSession, runSession } from "./runtime.js";

/** @typedef {import("./runtime.js").Ort} Ort */
/** @typedef {import("./runtime.js").Session} Session */

const TOKENS_KEY = "wakeword.tokens";
/** The tokens that may stand between two phonemes of a word. */
const BETWEEN = ["<blank>", "<wb>"];
/** The level and the faint noise that the recogniser is given, as `wakeword/verify/phoneme_verifier.py` explains. */
const PEAK = 0.5;
const NOISE = 0.0035;
const FAINTEST = 1e-5;
/** When a near word is said, as `wakeword/verify/phoneme_verifier.py` explains. */
export const HOPELESS = -2.5;
/** What a second opinion counts, and the least that it says. */
const OPINION = 1 / 3;
const MIN_OPINION = -3;
const TOLD_APART = 5;
const EXPLAINED = 0.3;

/** A CTC recogniser of phonemes with the list of its tokens. */
export class PhonemeNetwork {
  /** @param {Ort} ort @param {Session} session @param {string[]} tokens */
  constructor(ort, session, tokens) {
    this._ort = ort;
    this._session = session;
    this.tokens = tokens;
    if (!session.inputNames.includes("waveform") || !BETWEEN.every((token) => tokens.includes(token))) {
      throw new ModelError(`expected a phoneme recogniser of waveforms with the tokens ${BETWEEN.join(" and ")}`);
    }
  }

  /** @param {Ort} ort @param {Uint8Array<ArrayBuffer>} data */
  static async open(ort, data) {
    const tokens = await tokensOf(data);
    return new PhonemeNetwork(ort, await openSession(ort, data), tokens);
  }

  /**
   * The logarithms of the tokens' probabilities, `(frames, tokens)`.
   * @param {Float32Array} samples `(n,)` at 16 kHz
   * @returns {Promise<Float32Array>}
   */
  async logProbabilities(samples) {
    const { Tensor } = this._ort;
    const waveform = asRecogniserHears(samples);
    const outputs = await runSession(this._session, {
      waveform: new Tensor("float32", waveform, [1, samples.length]),
      waveform_lengths: new Tensor("int64", BigInt64Array.of(BigInt(samples.length)), [1]),
    });
    const frames = Number(/** @type {BigInt64Array} */ (outputs.out_lengths.data)[0]);
    return /** @type {Float32Array} */ (outputs.log_probs.data).subarray(0, frames * this.tokens.length);
  }
}

/** The list of tokens in a recogniser's file. @param {Uint8Array<ArrayBuffer>} data */
export async function tokensOf(data) {
  const { entries } = await checkedMetadata(data);
  let tokens;
  try {
    tokens = JSON.parse(entries.get(TOKENS_KEY) ?? "null");
  } catch {
    tokens = null;
  }
  if (!Array.isArray(tokens)) throw new ModelError(`expected a phoneme recogniser with its tokens as ${TOKENS_KEY}`);
  return /** @type {string[]} */ (tokens);
}

/**
 * Sound with a peak of 0.5 and a noise that depends on nothing but its length.
 * @param {Float32Array} samples
 */
function asRecogniserHears(samples) {
  const gain = Math.fround(PEAK / Math.max(FAINTEST, samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)));
  return samples.map((sample, i) => {
    let mixed = Math.imul(i + 1, 2_654_435_761);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 3_266_489_917);
    const noise = ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 31 - 1;
    return Math.fround(gain * sample) + Math.fround(NOISE * noise);
  });
}

/**
 * A word as a search over the recogniser's output: the phonemes of every variant, with what may stand between them, are
 * states side by side. Two neighbours that share a token need something between them, or CTC would read them as one.
 * It finds what the class of that name in `wakeword/verify/phoneme_verifier.py` does, to which `tests/web/test_library.py`
 * holds it, and in whole models `tests/web/test_scores.py`.
 */
export class KeywordPhonemes {
  /**
   * Throws `ModelError` for a token that the recogniser does not have.
   * @param {string[][][]} variants
   * @param {string[]} tokens of the recogniser
   * @param {number[][][]} [losses] of each token of each variant, in the same shape; none costs anything if empty
   * @param {KeywordPhonemes | null} [near] other words, for which this one is not taken
   */
  constructor(variants, tokens, losses = [], near = null) {
    this._near = near;
    const numbers = new Map(tokens.map((token, number) => [token, number]));
    const unknown = variants.flat(2).filter((token) => !numbers.has(token));
    if (unknown.length) {
      throw new ModelError(`expected phonemes among the recogniser's ${tokens.length} tokens, got ${unknown.join(", ")}`);
    }
    /** @param {string[]} some */
    const numbersOf = (some) => some.map((token) => Number(numbers.get(token)));
    this._tokens = tokens.length;
    /** @type {{ group: number[], lost: number[], begins: boolean, direct: boolean }[]} `direct`: whether it can follow the state two before */
    this._states = [];
    /** @type {{ state: number, length: number }[]} */
    this._ends = [];
    this._between = numbersOf(BETWEEN);
    const free = BETWEEN.map(() => 0);
    variants.forEach((variant, number) => {
      variant.forEach((phoneme, place) => {
        const before = variant[place - 1];
        const lost = losses[number]?.[place] ?? phoneme.map(() => 0);
        if (before) this._states.push({ group: this._between, lost: free, begins: false, direct: false });
        const direct = before !== undefined && !phoneme.some((token) => before.includes(token));
        this._states.push({ group: numbersOf(phoneme), lost: lost.map(Math.fround), begins: !before, direct });
      });
      this._ends.push({ state: this._states.length - 1, length: variant.length });
    });
  }

  /**
   * How well the best variant fits somewhere: at most 0, and minus infinity if none can, or if a near word is said. The
   * logarithm of the best path with the word in it, less that of the best path of all, per phoneme.
   * @param {Float32Array} logProbabilities `(frames, tokens)`
   * @param {number} [newest] the word must end in so many of the last frames
   */
  score(logProbabilities, newest = Infinity) {
    const losses = lossesOf(logProbabilities, this._tokens);
    const fit = this._fit(losses, newest);
    return this._near && fit > HOPELESS && this._isNearWord(this._near, losses, fit) ? -Infinity : fit;
  }

  /**
   * A weighted mean of a fit and of how well another recogniser hears the word.
   * @param {number} fit @param {Float32Array} logProbabilities `(frames, tokens)`, of the other one
   */
  withOpinion(fit, logProbabilities) {
    const other = this._fit(lossesOf(logProbabilities, this._tokens));
    return (1 - OPINION) * fit + OPINION * Math.max(other, MIN_OPINION);
  }

  /**
   * Whether a near word is said where this one fits best: it fits there, and this one badly.
   * @param {KeywordPhonemes} near @param {Float32Array} losses @param {number} fit
   */
  _isNearWord(near, losses, fit) {
    const width = this._tokens;
    const frames = losses.length / width;
    const end = firstOf(frames, (last) => this._fit(losses.subarray(0, (last + 1) * width)) >= fit) + 1;
    const count = firstOf(end, (before) => this._fit(losses.subarray((end - 1 - before) * width, end * width)) >= fit) + 1;
    const there = losses.subarray((end - count) * width, end * width);
    const lost = this._lostIn(there);
    return near._lostIn(there) > Math.max(lost + TOLD_APART, lost * EXPLAINED);
  }

  /** @param {Float32Array} losses @param {number} [newest] */
  _fit(losses, newest = Infinity) {
    const fits = this._best(losses, newest).map((lost, i) => lost / this._ends[i].length);
    return Math.max(-Infinity, ...fits);
  }

  /** What the best of the variants loses, all in all, if nothing else is said. @param {Float32Array} losses */
  _lostIn(losses) {
    /** @type {number[]} */
    const silent = [];
    for (let start = 0; start < losses.length; start += this._tokens) {
      silent.push(Math.max(...this._between.map((token) => losses[start + token])));
    }
    return Math.max(-Infinity, ...this._best(losses, Infinity, silent)) + silent.reduce((sum, loss) => sum + loss, 0);
  }

  /**
   * What each variant loses where it loses least.
   * @param {Float32Array} losses `(frames, tokens)`
   * @param {number} newest
   * @param {number[]} [free] what a frame before or after the word costs
   */
  _best(losses, newest, free) {
    const states = this._states;
    const frames = losses.length / this._tokens;
    let reached = new Float64Array(states.length);
    let now = new Float64Array(states.length).fill(-Infinity);
    const best = this._ends.map(() => -Infinity);
    for (let frame = 0; frame < frames; frame++) {
      [reached, now] = [now, reached];
      states.forEach(({ group, lost, begins, direct }, i) => {
        let loss = -Infinity;
        group.forEach((token, place) => {
          loss = Math.max(loss, Math.fround(losses[frame * this._tokens + token] - lost[place]));
        });
        let from = reached[i];
        if (begins) from = Math.max(from, 0);
        else from = Math.max(from, reached[i - 1]);
        if (direct) from = Math.max(from, reached[i - 2]);
        now[i] = from + (free ? loss - free[frame] : loss);
      });
      if (frames - frame > newest) continue;
      this._ends.forEach(({ state }, i) => (best[i] = Math.max(best[i], now[state])));
    }
    return best;
  }
}

/**
 * The first number of which something holds that then holds of all that follow.
 * @param {number} count the numbers are below it
 * @param {(number: number) => boolean} holds
 */
function firstOf(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * What each frame loses by its token, so that the frames before and after a word cost nothing.
 * @param {Float32Array} logProbabilities `(frames, tokens)` @param {number} tokens
 */
function lossesOf(logProbabilities, tokens) {
  const losses = new Float32Array(logProbabilities.length);
  for (let start = 0; start < losses.length; start += tokens) {
    let highest = -Infinity;
    for (const value of logProbabilities.subarray(start, start + tokens)) if (value > highest) highest = value;
    for (let i = start; i < start + tokens; i++) losses[i] = logProbabilities[i] - highest;
  }
  return losses;
}
