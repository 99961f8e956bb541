/** Power spectra of real signals. */

/** A Fourier transform of `size` real numbers, `size` even with no prime factor that is large. Keeps its working arrays. */
export class PowerSpectrum {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    const half = size / 2;
    this._half = half;
    this._factors = factorsOf(half);
    this._cos = Float64Array.from({ length: half }, (_, k) => Math.cos((2 * Math.PI * k) / half));
    this._sin = Float64Array.from({ length: half }, (_, k) => -Math.sin((2 * Math.PI * k) / half));
    this._foldCos = Float64Array.from({ length: half + 1 }, (_, k) => Math.cos((Math.PI * k) / half));
    this._foldSin = Float64Array.from({ length: half + 1 }, (_, k) => -Math.sin((Math.PI * k) / half));
    this._buffers = [0, 1].map(() => ({ re: new Float64Array(half), im: new Float64Array(half) }));
  }

  /**
   * The squared magnitudes of the bins 0 to size / 2.
   * @param {Float64Array} signal `(size,)`
   * @param {Float64Array | Float32Array} power `(size / 2 + 1,)`, written
   * @param {number} [at] where in `power` to begin
   */
  compute(signal, power, at = 0) {
    const half = this._half;
    // Neighbours as real and imaginary parts: one transform of half the size gives both halves of the spectrum.
    const first = this._buffers[0];
    for (let n = 0; n < half; n++) {
      first.re[n] = signal[2 * n];
      first.im[n] = signal[2 * n + 1];
    }
    const { re, im } = this._transform();
    for (let k = 0; k <= half; k++) {
      const here = k % half;
      const there = (half - k) % half;
      const evenRe = 0.5 * (re[here] + re[there]);
      const evenIm = 0.5 * (im[here] - im[there]);
      const oddRe = 0.5 * (im[here] + im[there]);
      const oddIm = -0.5 * (re[here] - re[there]);
      const c = this._foldCos[k];
      const s = this._foldSin[k];
      const real = evenRe + c * oddRe - s * oddIm;
      const imaginary = evenIm + c * oddIm + s * oddRe;
      power[at + k] = real * real + imaginary * imaginary;
    }
  }

  /** The complex transform of the first buffer, by Stockham's method: sorted without a permutation of its own. */
  _transform() {
    let [from, to] = this._buffers;
    let length = this._half;
    let stride = 1;
    for (const radix of this._factors) {
      this._stage(from, to, length, stride, radix);
      length /= radix;
      stride *= radix;
      [from, to] = [to, from];
    }
    return from;
  }

  /**
   * @param {{ re: Float64Array, im: Float64Array }} from
   * @param {{ re: Float64Array, im: Float64Array }} to
   * @param {number} length
   * @param {number} stride
   * @param {number} radix
   */
  _stage(from, to, length, stride, radix) {
    const { _cos: cos, _sin: sin, _half: size } = this;
    const part = length / radix;
    for (let p = 0; p < part; p++) {
      for (let k = 0; k < radix; k++) {
        // The factor of input i: exp(-2 pi i (k i / radix + p k / length)), as a place in the table of the whole circle.
        const step = (k * size) / radix;
        const start = p * k * stride;
        for (let q = 0; q < stride; q++) {
          let re = 0;
          let im = 0;
          for (let i = 0; i < radix; i++) {
            const place = q + stride * (p + part * i);
            const turn = (start + step * i) % size;
            re += from.re[place] * cos[turn] - from.im[place] * sin[turn];
            im += from.re[place] * sin[turn] + from.im[place] * cos[turn];
          }
          const place = q + stride * (radix * p + k);
          to.re[place] = re;
          to.im[place] = im;
        }
      }
    }
  }
}

/** @param {number} number */
function factorsOf(number) {
  const factors = [];
  for (let factor = 2; number > 1; factor++) {
    while (number % factor === 0) {
      factors.push(factor);
      number /= factor;
    }
  }
  return factors;
}
