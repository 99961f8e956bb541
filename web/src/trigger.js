/** From scores to detections: threshold and refractory time. */

/** Time is counted in frames of the stream, never by a clock. */
export class Trigger {
  _armed = true;
  _silentFrames = 0;

  /**
   * Fires when a score reaches the threshold. It then stays silent for `refractory` frames and until a score has been below
   * the threshold: one event, however long it lasts, fires once.
   * @param {number} threshold
   * @param {{ refractory: number, hop: number }} settings
   */
  constructor(threshold, { refractory, hop }) {
    this.threshold = threshold;
    this._refractory = refractory;
    this._hop = hop;
  }

  /** Forget everything; the next score is the first. */
  reset() {
    this._armed = true;
    this._silentFrames = 0;
  }

  /**
   * Take the score of the next hop; return it if this is a detection, else `null`.
   * @param {number} score
   * @param {number} [atLeast] a second threshold, for this score alone: below it, the score counts but does not fire
   * @returns {number | null}
   */
  push(score, atLeast = 0) {
    this._silentFrames = Math.max(0, this._silentFrames - this._hop);
    // Not "score < threshold": a NaN must not fire.
    if (!(score >= this.threshold)) {
      this._armed = true;
      return null;
    }
    if (!this._armed || this._silentFrames || score < atLeast) return null;
    this._armed = false;
    this._silentFrames = this._refractory;
    return score;
  }
}
