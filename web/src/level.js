/** The gain at which a window is heard. `wakeword/audio/level.py` gives the reasons. */

/** Samples of which the mean square counts. */
const STRETCH = 160;
/** Mean squares from which a window is heard as it is, and from which a gain of 10 is enough. */
const LOUD = 10 ** -3;
const QUIET = 10 ** -5;

/** The gain for the samples of a window: 1, 10 or 100. @param {Float32Array} window */
export function gainOf(window) {
  let level = 0;
  for (let start = 0; start + STRETCH <= window.length; start += STRETCH) {
    let sum = 0;
    for (let n = start; n < start + STRETCH; n++) sum += window[n] * window[n];
    level = Math.max(level, sum / STRETCH);
    if (level >= LOUD) return 1;
  }
  return level >= QUIET ? 10 : 100;
}

/** Samples times a gain; the same array if that is 1. @param {Float32Array} samples @param {number} gain */
export function amplified(samples, gain) {
  return gain === 1 ? samples : samples.map((sample) => sample * gain);
}
