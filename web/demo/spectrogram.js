/** A spectrogram that moves: the mel energies that the detector computes anyway. */

/** Logarithms of energies at which a point is dark and bright. */
const LOWEST = -11;
const HIGHEST = 3;
const FRAMES_A_SECOND = 100;

export class Spectrogram {
  /** @param {HTMLCanvasElement} canvas one column for each 10 ms */
  constructor(canvas) {
    this._canvas = canvas;
    this._context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
    this._seconds = 0;
    this.clear();
  }

  clear() {
    this._seconds = 0;
    this._context.clearRect(0, 0, this._canvas.width, this._canvas.height);
  }

  /** Show what was heard. @param {import("../src/index.js").Heard} heard */
  push({ seconds, logMel }) {
    const bands = 32;
    const { width, height } = this._canvas;
    const columns = Math.min(width, Math.round((seconds - this._seconds) * FRAMES_A_SECOND));
    this._seconds = seconds;
    if (columns <= 0) return;
    // In place of what was there: drawn over it, what is transparent would show it.
    this._context.globalCompositeOperation = "copy";
    this._context.drawImage(this._canvas, -columns, 0);
    this._context.globalCompositeOperation = "source-over";
    const image = this._context.createImageData(columns, height);
    const frames = logMel.length / bands;
    const [red, green, blue] = colour(this._canvas);
    for (let x = 0; x < columns; x++) {
      const frame = frames - columns + x;
      for (let y = 0; y < height; y++) {
        const band = bands - 1 - Math.floor((y * bands) / height);
        // Of steady quiet there are no frames.
        const value = frame < 0 ? LOWEST : logMel[frame * bands + band];
        const share = Math.min(1, Math.max(0, (value - LOWEST) / (HIGHEST - LOWEST)));
        image.data.set([red, green, blue, 255 * share], 4 * (y * columns + x));
      }
    }
    this._context.clearRect(width - columns, 0, columns, height);
    this._context.putImageData(image, width - columns, 0);
  }

  /** Mark a detection. */
  mark() {
    const { width, height } = this._canvas;
    this._context.fillStyle = getComputedStyle(this._canvas).getPropertyValue("--good");
    this._context.fillRect(width - 3, 0, 3, height);
  }
}

/** The page's text colour, which follows light and dark. @param {HTMLElement} of */
function colour(of) {
  return (getComputedStyle(of).color.match(/\d+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
}
