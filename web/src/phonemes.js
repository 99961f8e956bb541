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
 */
export class KeywordPhonemes {
  /**
   * Throws `ModelError` for a token that the recogniser does not have.
   * @param {string[][][]} variants
   * @param {string[]} tokens of the recogniser
   * @param {number[][][]} [losses] of each token of each variant, in the same shape; none costs anything if empty
   */
  constructor(variants, tokens, losses = []) {
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
    const free = BETWEEN.map(() => 0);
    variants.forEach((variant, number) => {
      variant.forEach((phoneme, place) => {
        const before = variant[place - 1];
        const lost = losses[number]?.[place] ?? phoneme.map(() => 0);
        if (before) this._states.push({ group: numbersOf(BETWEEN), lost: free, begins: false, direct: false });
        const direct = before !== undefined && !phoneme.some((token) => before.includes(token));
        this._states.push({ group: numbersOf(phoneme), lost: lost.map(Math.fround), begins: !before, direct });
      });
      this._ends.push({ state: this._states.length - 1, length: variant.length });
    });
  }

  /**
   * How well the best variant fits somewhere: at most 0, and minus infinity if none can. The logarithm of the best path with
   * the word in it, less that of the best path of all, per phoneme.
   * @param {Float32Array} logProbabilities `(frames, tokens)`
   * @param {number} [newest] the word must end in so many of the last frames
   */
  score(logProbabilities, newest = Infinity) {
    const states = this._states;
    let reached = new Float64Array(states.length).fill(-Infinity);
    const best = this._ends.map(() => -Infinity);
    for (let start = 0; start < logProbabilities.length; start += this._tokens) {
      const frame = logProbabilities.subarray(start, start + this._tokens);
      let highest = -Infinity;
      for (const value of frame) if (value > highest) highest = value;
      const now = new Float64Array(states.length);
      states.forEach(({ group, lost, begins, direct }, i) => {
        let loss = -Infinity;
        group.forEach((token, place) => {
          loss = Math.max(loss, Math.fround(Math.fround(frame[token] - highest) - lost[place]));
        });
        let from = reached[i];
        if (begins) from = Math.max(from, 0);
        else from = Math.max(from, reached[i - 1]);
        if (direct) from = Math.max(from, reached[i - 2]);
        now[i] = from + loss;
      });
      reached = now;
      if (logProbabilities.length - start > newest * this._tokens) continue;
      this._ends.forEach(({ state }, i) => (best[i] = Math.max(best[i], now[state])));
    }
    return Math.max(-Infinity, ...best.map((value, i) => value / this._ends[i].length));
  }
}
