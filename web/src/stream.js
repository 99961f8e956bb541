/**
 * One stream of audio and its keywords: blocks in, scores and detections out.
 *
 * The path of a block: `Resampler` -> `AudioHistory` -> `FirstStage` -> `Verifier` -> `Trigger`.
 */

import { checkedThreshold, pointOf } from "./card.js";
import { AudioFormatError, ConfigError } from "./errors.js";
import { SAMPLE_RATE } from "./features.js";
import { FirstStage } from "./first-stage.js";
import { QuietGate } from "./gate.js";
import { AudioHistory } from "./history.js";
import { KeywordTracker } from "./keyword.js";
import { Resampler, checkedSamples } from "./resampler.js";
import { LOOK_SAMPLES, StreamSound } from "./verifier.js";

/** @typedef {import("./model.js").Model} Model */

/**
 * The keyword was spoken. Times are seconds of the stream's own clock.
 * @typedef {object} Detection
 * @property {string} keyword
 * @property {number} score 0 to 1, that reached the threshold
 * @property {number} start start of the window that was scored; the word is inside the window
 * @property {number} end end of that window: the moment of the detection
 * @property {Float32Array} audio mono at 16 kHz: the pre-roll, then the window; its last sample is at `end`
 * @property {number | null} stageOne for a model with a second stage: the first stage's own score
 */

/**
 * The score of one window.
 * @typedef {{ keyword: string, score: number, end: number }} Score `end`: seconds
 */

/**
 * What came of a block.
 * @typedef {object} Heard
 * @property {number} seconds the stream's own clock
 * @property {boolean} asleep whether the newest audio was steady quiet, for which nothing was computed
 * @property {Score[]} scores of the windows now complete
 * @property {Detection[]} detections
 * @property {Float32Array} logMel `(frames, n_mels)`: logarithms of the mel energies of the new frames, for a display
 */

/**
 * @typedef {object} StreamOptions
 * @property {string | Record<string, string> | null} [point] operating point, for all keywords or for each
 * @property {number | Record<string, number> | null} [threshold] in its place
 * @property {number} [hop] frames between the ends of two windows
 * @property {number} [refractory] frames after a detection in which none is reported
 * @property {number} [preRoll] seconds of audio before the window in a detection
 * @property {boolean} [gate] save the work on steady quiet, without an effect on detections
 */

/** Most samples that are processed at a time, so that memory does not grow with a caller's block. */
const PIECE = SAMPLE_RATE;

export class Stream {
  /** Samples in the stream once it has ended. @type {number | null} */
  length = null;
  /** The first sample that the gate has not seen. */
  _checked = 0;
  _asleep = false;
  _hasBegun = false;
  /** Windows that begin before this sample are not reported. */
  _suppressedUntil = 0;

  /** @param {Model[]} models @param {StreamOptions} [options]. Throws `ConfigError` for settings that cannot be used. */
  constructor(models, options = {}) {
    const settings = checkedOptions(models, options);
    this.keywords = models.map((model) => {
      const { card } = model;
      const given = chosen(settings.threshold, card.phrase);
      const threshold = given ?? pointOf(card, chosen(settings.point, card.phrase)).threshold;
      return new KeywordTracker(model, checkedThreshold(card, threshold), settings);
    });
    this._preRoll = Math.round(settings.preRoll * SAMPLE_RATE);
    const longest = Math.max(...this.keywords.map((keyword) => keyword.window));
    const look = models.some((model) => model.secondStage) ? LOOK_SAMPLES : 0;
    this._history = new AudioHistory(Math.max(longest + this._preRoll, look) + this.keywords[0].step + PIECE);
    this.sound = new StreamSound((start, end) => this._history.padded(start, end));
    this._gate = settings.gate ? new QuietGate(Math.max(longest, SAMPLE_RATE)) : null;
    this._models = models;
    this._firstStage = new FirstStage(models, settings.hop);
    /** @type {Resampler | null} */
    this._resampler = null;
    this._suppressed = false;
    this.reset();
  }

  /** Begin a new stream at time 0. */
  reset() {
    this._resampler?.reset();
    this._hasBegun = false;
    this._history.reset();
    this.sound.reset();
    this._gate?.reset();
    for (const keyword of this.keywords) keyword.reset();
    this._firstStage.begin();
    this._checked = 0;
    this._asleep = false;
    this._suppressedUntil = this._suppressed ? Infinity : 0;
    this.length = null;
  }

  /** Seconds of audio processed: the stream's own clock. */
  get seconds() {
    return this._history.end / SAMPLE_RATE;
  }

  /**
   * Samples of a block at 16 kHz, as one signal with those before. Throws `AudioFormatError`.
   * @param {Float32Array} block
   * @param {number} rate
   */
  resampled(block, rate) {
    checkedSamples(block);
    if (this._resampler?.rate !== rate) {
      if (this._hasBegun) throw new AudioFormatError(`expected ${this._resampler?.rate} Hz as before, got ${rate}; reset first`);
      this._resampler = new Resampler(rate);
    }
    this._hasBegun = true;
    return this._resampler.push(block);
  }

  /**
   * Process a block of any length; what comes of it, in steps of at most a second of audio.
   * @param {Float32Array} block mono
   * @param {number} rate Hz; one stream has one
   * @returns {AsyncGenerator<Heard>}
   */
  async *push(block, rate) {
    yield* this._take(this.resampled(block, rate));
  }

  /** End the stream: silence until a window covers the last sample. Then begin a new one. @returns {AsyncGenerator<Heard>} */
  async *flush() {
    if (this._resampler) yield* this._take(this._resampler.flush());
    if (this._history.end) yield await this._finish();
    this.reset();
  }

  /**
   * Detect nothing in windows that overlap the time from now until this is called with `false`.
   * @param {boolean} wanted
   */
  suppress(wanted) {
    this._suppressed = wanted;
    this._suppressedUntil = wanted ? Infinity : this._history.end;
  }

  /**
   * Throws `ConfigError` for a threshold that the model cannot keep.
   * @param {string} keyword
   * @param {unknown} threshold
   */
  setThreshold(keyword, threshold) {
    const found = this.keywords.find((one) => one.name === keyword);
    if (!found) throw new ConfigError(`expected a keyword among ${this.keywords.map((one) => one.name)}, got ${keyword}`);
    found.trigger.threshold = checkedThreshold(found.card, threshold);
  }

  /** @param {number} windowStart */
  leastScore(windowStart) {
    return windowStart < this._suppressedUntil ? Infinity : 0;
  }

  /** @param {KeywordTracker} keyword @param {number} score @param {number | null} stageOne @returns {Detection} */
  detection(keyword, score, stageOne) {
    // The last window of a stream can extend into the silence after it.
    const end = this.length === null ? keyword.windowEnd : Math.min(keyword.windowEnd, this.length);
    const audio = this._history.slice(keyword.windowStart - this._preRoll, end);
    return { keyword: keyword.name, score, start: keyword.windowStart / SAMPLE_RATE, end: end / SAMPLE_RATE, audio, stageOne };
  }

  /** @param {Float32Array} samples */
  async *_take(samples) {
    for (let start = 0; start < samples.length; start += PIECE) {
      this._history.push(samples.subarray(start, start + PIECE));
      const due = Math.min(...this.keywords.map((keyword) => keyword.windowEnd));
      // Nothing is computed before a window ends: a small block costs a copy, not a pass.
      if (this._history.end >= due) yield await this._work(this._history.end);
    }
  }

  async _finish() {
    const length = this._history.end;
    this.length = length;
    return this._work(Math.max(...this.keywords.map((keyword) => keyword.covering(length))));
  }

  /** Score the windows up to a sample; what the stream does not have of them is silence. @param {number} end */
  async _work(end) {
    /** @type {Heard} */
    const heard = { seconds: this.seconds, asleep: false, scores: [], detections: [], logMel: new Float32Array(0) };
    const quiet = this.length === null && this._isQuiet();
    if (this._asleep) {
      if (quiet) {
        for (const keyword of this.keywords) keyword.hold(this._history.end, heard);
        return { ...heard, asleep: true };
      }
      this._wake();
    }
    /** @type {Float32Array[]} */
    const logMel = [];
    const found = await this._firstStage.read((from, to) => this._history.padded(from, to), end, logMel);
    heard.logMel = joined(logMel);
    for (const [i, keyword] of this.keywords.entries()) await keyword.take(found.get(this._models[i]) ?? [], this, heard);
    heard.detections.sort((a, b) => a.end - b.end);
    this._asleep = quiet && this.keywords.every((keyword) => keyword.isFarBelow);
    return { ...heard, asleep: this._asleep };
  }

  /** Whether the audio since the last call, and what the gate kept before it, is steady quiet. */
  _isQuiet() {
    if (!this._gate) return false;
    const start = this._checked;
    this._checked = this._history.end;
    return this._gate.push(this._history.view(start, this._checked));
  }

  /** Score again from the start of the first window that was not scored. */
  _wake() {
    this._asleep = false;
    this._firstStage.begin(this.keywords.map((keyword) => keyword.windowStart));
  }
}

/** @param {Float32Array[]} parts */
function joined(parts) {
  const found = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let start = 0;
  for (const part of parts) {
    found.set(part, start);
    start += part.length;
  }
  return found;
}

/**
 * @param {Model[]} models
 * @param {StreamOptions} options
 * @returns {Required<StreamOptions>}
 */
function checkedOptions(models, options) {
  const names = models.map((model) => model.card.phrase);
  if (!names.length || new Set(names).size !== names.length) {
    throw new ConfigError(`expected one or more models with different keywords, got ${names.join(", ") || "none"}`);
  }
  const { point = null, threshold = null, hop = 16, refractory = 100, preRoll = 0.5, gate = true } = options;
  for (const choice of [point, threshold]) {
    const unknown = typeof choice === "object" && choice ? Object.keys(choice).filter((name) => !names.includes(name)) : [];
    if (unknown.length) throw new ConfigError(`expected a choice for keywords among ${names.join(", ")}, got one for ${unknown}`);
  }
  if (!Number.isInteger(refractory) || refractory < 0 || refractory > 8_640_000) {
    throw new ConfigError(`expected refractory of 0 to 8640000, got ${refractory}`);
  }
  if (!(preRoll >= 0 && preRoll <= 60)) throw new ConfigError(`expected a preRoll of 0 to 60 seconds, got ${preRoll}`);
  return { point, threshold, hop, refractory, preRoll, gate };
}

/**
 * The choice for a keyword: one for all, one for each, or none.
 * @template {string | number} T
 * @param {T | Record<string, T> | null} choice
 * @param {string} keyword
 * @returns {T | null}
 */
function chosen(choice, keyword) {
  if (typeof choice !== "object" || !choice) return choice;
  // A word can be named as what every object has: "constructor".
  return Object.hasOwn(choice, keyword) ? choice[keyword] : null;
}
