/** The quick recogniser of phonemes: where it hears something like the word, the recogniser is asked. */

import { EmbeddingNetwork } from "./embedding.js";
import { ModelError } from "./errors.js";
import { KeywordPhonemes, tokensOf } from "./phonemes.js";
import { openSession } from "./runtime.js";

/** Steps of 80 ms in which a word is searched. */
export const QUICK_STEPS = 18;
/** Outputs in which the word ends, those since the last look, and the logarithm of the probability of a token that the network does not have. */
const NEWEST = 16;
const NEVER = -100;

/** The network with its tokens. */
export class QuickPhonemes {
  /** @param {EmbeddingNetwork} network @param {string[]} tokens */
  constructor(network, tokens) {
    this.network = network;
    this.tokens = tokens;
  }

  /** @param {import("./runtime.js").Ort} ort @param {Uint8Array<ArrayBuffer>} data */
  static async open(ort, data) {
    const tokens = await tokensOf(data);
    return new QuickPhonemes(new EmbeddingNetwork(ort, await openSession(ort, data)), tokens);
  }
}

/** A word as the quick recogniser hears it, from what the recogniser searches for. It has fewer tokens. */
export class QuickKeyword {
  /** @param {QuickPhonemes} recogniser @param {string[][][]} variants @param {number[][][]} losses */
  constructor(recogniser, variants, losses) {
    this.recogniser = recogniser;
    const others = new Set(variants.flat(2).filter((token) => !recogniser.tokens.includes(token)));
    this._tokens = [...recogniser.tokens, ...others];
    this._keyword = new KeywordPhonemes(variants, this._tokens, losses);
  }

  /**
   * How well the word fits at the end of what was heard.
   * @param {Float32Array} steps `(18, width)`
   */
  fit(steps) {
    const known = this.recogniser.tokens.length;
    const rows = steps.length / known;
    if (!Number.isInteger(rows)) throw new ModelError(`expected outputs of ${known} tokens of the quick recogniser`);
    const padded = new Float32Array(rows * this._tokens.length).fill(NEVER);
    for (let row = 0; row < rows; row++) {
      padded.set(steps.subarray(row * known, (row + 1) * known), row * this._tokens.length);
    }
    return this._keyword.score(padded, NEWEST);
  }
}
