/** The first stage over a stream of samples: the logit of each window, heard at the window's own gain. */

import { CONFIG, Mfcc, framesIn, samplesIn } from "./features.js";
import { amplified, gainOf } from "./level.js";
import { StaggeredWindows } from "./windows.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./embedding.js").SamplesOf} SamplesOf */

/** What the first stage says of one window. @typedef {{ logit: number, gain: number }} WindowLogit */

/** Logits of the windows of one or more models over one stream, in order. */
export class FirstStage {
  /** Throws `ConfigError` for a hop that a model cannot take. @param {Model[]} models @param {number} hop */
  constructor(models, hop) {
    this._models = models;
    // Windows of different lengths differ in gain, so each length has features of its own.
    const lengths = [...new Set(models.map((model) => model.card.window))];
    this._lengths = lengths.map((window) => new Windows(models.filter((model) => model.card.window === window), hop));
  }

  /** Go on with the windows that begin at these samples, one for each model. @param {number[]} [starts] by default a new stream */
  begin(starts) {
    for (const windows of this._lengths) windows.begin(starts ? starts[this._models.indexOf(windows.models[0])] : 0);
  }

  /**
   * For each model, its next windows that end at a sample or before; `logMel` gets the rows of frames that are new.
   * @param {SamplesOf} samplesOf
   * @param {number} end
   * @param {Float32Array[]} logMel
   * @returns {Promise<Map<Model, WindowLogit[]>>}
   */
  async read(samplesOf, end, logMel) {
    /** @type {Map<Model, WindowLogit[]>} */
    const found = new Map();
    for (const windows of this._lengths) {
      await windows.read(samplesOf, end, found, windows === this._lengths[0] ? logMel : []);
    }
    return found;
  }
}

/** The windows of one length. */
class Windows {
  /** The first sample of the next window, and of the next frame. */
  _start = 0;
  _framed = 0;
  /** The first sample of the next frame that was in no pass. */
  _new = 0;
  /** Of the frames that the scorers have. */
  _gain = 0;

  /** @param {Model[]} models @param {number} hop */
  constructor(models, hop) {
    this.models = models;
    this._window = samplesIn(models[0].card.window);
    this._step = hop * CONFIG.hop_length;
    this._mfcc = new Mfcc();
    this._scorers = models.map((model) => new StaggeredWindows(model.network, hop));
  }

  /** Go on with the window at a sample. @param {number} start */
  begin(start) {
    this._start = start;
    this._gain = 0;
    this._new = start;
  }

  /** @param {SamplesOf} samplesOf @param {number} end @param {Map<Model, WindowLogit[]>} found @param {Float32Array[]} logMel */
  async read(samplesOf, end, found, logMel) {
    for (const model of this.models) found.set(model, []);
    for (let last; (last = this._start + this._window) <= end; ) {
      const gain = gainOf(samplesOf(this._start, last));
      for (let after; (after = last + this._step) <= end; last = after) {
        if (gainOf(samplesOf(after - this._window, after)) !== gain) break;
      }
      const frames = this._frames(samplesOf, gain, last, logMel);
      for (const [i, model] of this.models.entries()) {
        for (const logit of await this._scorers[i].push(frames)) found.get(model)?.push({ logit, gain });
      }
    }
  }

  /**
   * The frames, up to a sample, of the next windows, all of one gain.
   * @param {SamplesOf} samplesOf @param {number} gain @param {number} last @param {Float32Array[]} logMel
   */
  _frames(samplesOf, gain, last, logMel) {
    if (gain !== this._gain) {
      // The frames so far are of another gain: begin again with the first window that has this one.
      for (const scorer of this._scorers) scorer.reset();
      this._gain = gain;
      this._framed = this._start;
    }
    const signal = amplified(samplesOf(this._framed, last), gain);
    const rows = new Float32Array(framesIn(signal.length) * CONFIG.n_mels);
    const frames = this._mfcc.compute(signal, rows);
    // As loud as they were recorded.
    const shown = rows.subarray(Math.max(0, (this._new - this._framed) / CONFIG.hop_length) * CONFIG.n_mels);
    logMel.push(shown.map((energy) => energy - 2 * Math.log(gain)));
    this._framed += framesIn(signal.length) * CONFIG.hop_length;
    this._new = Math.max(this._new, this._framed);
    this._start = last - this._window + this._step;
    return frames;
  }
}
