/** The last seconds of audio, addressed by their position in the stream. */

export class AudioHistory {
  _first = 0;
  _filled = 0;

  /** @param {number} capacity least number of samples that are kept */
  constructor(capacity) {
    this.capacity = capacity;
    // Twice the capacity, so that old samples are dropped once per `capacity` samples, not at each push.
    this._buffer = new Float32Array(2 * capacity);
  }

  /** Forget all audio; the next sample is number 0. */
  reset() {
    this._first = 0;
    this._filled = 0;
  }

  /** Number of the next sample. */
  get end() {
    return this._first + this._filled;
  }

  /** Append at most `capacity` samples. @param {Float32Array} samples */
  push(samples) {
    if (this._filled + samples.length > this._buffer.length) {
      const keep = Math.min(this._filled, this.capacity);
      this._buffer.copyWithin(0, this._filled - keep, this._filled);
      this._first += this._filled - keep;
      this._filled = keep;
    }
    this._buffer.set(samples, this._filled);
    this._filled += samples.length;
  }

  /**
   * The samples `start` to `end`, which must all be kept: valid until the next push.
   * @param {number} start @param {number} end
   */
  view(start, end) {
    return this._buffer.subarray(start - this._first, end - this._first);
  }

  /**
   * A copy of the samples `start` to `end`, without those before the stream or no longer kept.
   * @param {number} start @param {number} end
   */
  slice(start, end) {
    const first = Math.max(start, this._first);
    return this.view(first, Math.max(first, Math.min(end, this.end))).slice();
  }

  /**
   * A copy of the samples `start` to `end`; zeros before the stream and after its newest sample.
   * @param {number} start @param {number} end
   */
  padded(start, end) {
    const padded = new Float32Array(end - start);
    const first = Math.max(start, 0);
    const last = Math.min(end, this.end);
    if (first < last) padded.set(this.view(first, last), first - start);
    return padded;
  }
}
