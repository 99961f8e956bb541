/** From scores to detections: threshold, smoothing and refractory time. */

/** Time is counted in frames of the stream, never by a clock. */
export class Trigger {
  /** @type {number[]} */
  _recent = [];
  _armed = true;
  _silentFrames = 0;

  /**
   * Fires when the mean of the last `smoothing` scores reaches the threshold. It then stays silent for `refractory` frames
   * and until the mean has been below the threshold: one event, however long it lasts, fires once.
   * @param {number} threshold
   * @param {{ smoothing: number, refractory: number, hop: number }} settings
   */
  constructor(threshold, { smoothing, refractory, hop }) {
    this.threshold = threshold;
    this.smoothing = smoothing;
    this._refractory = refractory;
    this._hop = hop;
  }

  /** Forget everything; the next score is the first. */
  reset() {
    this._recent = [];
    this._armed = true;
    this._silentFrames = 0;
  }

  /**
   * Take the score of the next hop; return the smoothed score if this is a detection, else `null`.
   * @param {number} score
   * @param {number} [atLeast] a second threshold, for this score alone: below it, the score counts but does not fire
   * @returns {number | null}
   */
  push(score, atLeast = 0) {
    this._silentFrames = Math.max(0, this._silentFrames - this._hop);
    let smoothed = score;
    // The mean of one value is that value, so without smoothing the comparison is exact.
    if (this.smoothing > 1) {
      this._recent.push(score);
      if (this._recent.length > this.smoothing) this._recent.shift();
      smoothed = this._recent.reduce((sum, one) => sum + one, 0) / this._recent.length;
    }
    // Not "smoothed < threshold": a NaN must not fire.
    if (!(smoothed >= this.threshold)) {
      this._armed = true;
      return null;
    }
    if (!this._armed || this._silentFrames || smoothed < atLeast) return null;
    this._armed = false;
    this._silentFrames = this._refractory;
    return smoothed;
  }
}
