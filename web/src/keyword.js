/** One keyword in a stream: its windows, their scores, its trigger. */

import { FLOOR } from "./card.js";
import { CONFIG, SAMPLE_RATE, samplesIn } from "./features.js";
import { Trigger } from "./trigger.js";
import { Verifier, scoreOfLogit } from "./verifier.js";
import { coveringSamples } from "./windows.js";

/** @typedef {import("./model.js").Model} Model */

/** Share of the threshold below which a score is far from a detection. */
const FAR_BELOW = 0.1;
/** Frames after a detection by phonemes alone in which none is reported: as many as they hear. */
const REFRACTORY_OF_PHONEMES = 200;

/** The windows of one keyword over a stream. Sample numbers count from the start of the stream. */
export class KeywordTracker {
  /** The sample at which the next window ends. */
  windowEnd = 0;
  /** The newest score; 0 before the first window is complete. */
  score = 0;
  /** Whether the newest score was far below the threshold. */
  isFarBelow = false;

  /** @param {Model} model @param {number} threshold @param {Required<import("./stream.js").StreamOptions>} options */
  constructor(model, threshold, { hop, refractory }) {
    this.name = model.card.phrase;
    this.card = model.card;
    this.window = samplesIn(model.card.window);
    this.step = hop * CONFIG.hop_length;
    const { stage_one, embedding } = model.card.verifier?.fusion ?? {};
    const byPhonemes = model.secondStage && stage_one === 0 && embedding === 0;
    // While a word leaves what the phonemes hear it falls and rises again: it would fire twice.
    const silent = byPhonemes && refractory ? Math.max(refractory, REFRACTORY_OF_PHONEMES) : refractory;
    this.trigger = new Trigger(threshold, { refractory: silent, hop });
    this.verifier = model.secondStage && new Verifier(model.secondStage, hop);
    this.reset();
  }

  reset() {
    this.trigger.reset();
    this.verifier?.reset();
    this.windowEnd = this.window;
    this.score = 0;
    this.isFarBelow = false;
  }

  /** Where the first window ends at which all words in so many samples of a stream were looked at. @param {number} samples */
  covering(samples) {
    const { quick_digest = null, phoneme_step = 0 } = this.verifier ? (this.card.verifier ?? {}) : {};
    // What the quick recogniser hears 0.28 s late counts from the next step of the phonemes on.
    const late = quick_digest === null ? 0 : (phoneme_step + 28) * CONFIG.hop_length;
    return coveringSamples(samples + late, this.window, this.step);
  }

  get windowStart() {
    return this.windowEnd - this.window;
  }

  /**
   * Take what the first stage says of the next windows; add their scores and detections.
   * @param {import("./first-stage.js").WindowLogit[]} windows
   * @param {import("./stream.js").Stream} stream
   * @param {import("./stream.js").Heard} heard
   */
  async take(windows, stream, heard) {
    for (const { logit, gain } of windows) {
      const end = stream.length;
      // The silence after the stream is for a keyword with a longer window.
      if (end !== null && this.windowEnd > this.covering(end)) break;
      const { verifier } = this;
      this.score = verifier ? await verifier.score(logit, this.windowEnd, stream.sound.at(gain)) : scoreOfLogit(logit);
      // With a second stage: of the score below which no window is verified, so that no candidate is slept through. Where
      // all windows are candidates, quiet that was looked at is slept through.
      const { stage_one, embedding } = this.card.verifier?.fusion ?? {};
      const allAlike = !verifier || (stage_one === 0 && embedding === 0);
      const farBelow = FAR_BELOW * (allAlike ? this.trigger.threshold : FLOOR);
      this.isFarBelow = this.score < farBelow;
      heard.scores.push({ keyword: this.name, score: this.score, end: this.windowEnd / SAMPLE_RATE });
      const fired = this.trigger.push(this.score, stream.leastScore(this.windowStart));
      if (fired !== null) {
        const stageOne = verifier ? scoreOfLogit(verifier.best) : null;
        heard.detections.push(stream.detection(this, fired, stageOne));
      }
      this.windowEnd += this.step;
    }
  }

  /** Repeat the last score for every window that ends up to a sample. @param {number} end @param {import("./stream.js").Heard} heard */
  hold(end, heard) {
    while (this.windowEnd <= end) {
      this.trigger.push(this.score);
      heard.scores.push({ keyword: this.name, score: this.score, end: this.windowEnd / SAMPLE_RATE });
      this.windowEnd += this.step;
    }
  }
}
