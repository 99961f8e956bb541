/** Takes of one's own word: what is wrong with one, and which part of it is kept. As `wakeword record` does. */

import { writeWav } from "../src/index.js";
import { zipOf } from "./zip.js";

/** Seconds that are kept before and after the word, the most that a window around it can contain. */
const MARGIN = 0.5;
const STEPS_A_SECOND = 100;

const FAULTS = {
  silent: "only digital silence was recorded; is the microphone muted?",
  no_word: "no word stands out from the noise; speak up, come closer, or find a quieter place",
  quiet: "it is too quiet; come closer, or turn the microphone up",
  clipped: "it is clipped; step back, or turn the microphone down",
  beginning_cut: "its beginning is cut off; speak a little later",
  end_cut: "its end is cut off; speak a little sooner",
};

/**
 * @typedef {object} Take
 * @property {Float32Array} samples at `sampleRate`, trimmed around the word
 * @property {number} sampleRate
 * @property {[number, number]} word where the word is in them, seconds
 * @property {number} level of the word, dB of full scale
 * @property {number} noise the same for the noise around it
 * @property {string | null} fault what is wrong with it
 */

/** @param {number} amplitude */
const decibels = (amplitude) => (amplitude > 0 ? 20 * Math.log10(amplitude) : -Infinity);

/** @param {Float32Array} samples */
function rms(samples) {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

/**
 * The word in a recording by its energy, in steps of 10 ms: the stretch with the most energy, gaps of up to 150 ms included.
 * @param {number[]} energy of each step
 */
function locate(energy) {
  const sorted = [...energy].sort((a, b) => a - b);
  const floor = sorted[Math.floor(energy.length / 10)];
  const highest = sorted[sorted.length - 1];
  // Halfway (in dB) between floor and peak if the noise is less than 60 dB below the peak.
  const threshold = Math.max(highest * 1e-3, Math.sqrt(floor * highest));
  /** @type {{ first: number, last: number, sum: number }[]} */
  const stretches = [];
  energy.forEach((value, step) => {
    if (value < threshold) return;
    const newest = stretches.at(-1);
    if (newest && step - newest.last <= 15) {
      newest.last = step;
      newest.sum += value;
    } else stretches.push({ first: step, last: step, sum: value });
  });
  const best = stretches.reduce((most, one) => (one.sum > most.sum ? one : most));
  return { first: best.first - 3, last: best.last + 4, floor: Math.sqrt(floor) };
}

/** @param {Float32Array} samples */
function isClipped(samples) {
  let row = 0;
  return samples.some((sample) => (row = Math.abs(sample) >= 0.999 ? row + 1 : 0) >= 3);
}

/**
 * A recording as a take.
 * @param {Float32Array} samples
 * @param {number} sampleRate
 * @returns {Take}
 */
export function examine(samples, sampleRate) {
  const step = Math.round(sampleRate / STEPS_A_SECOND);
  const steps = Math.floor(samples.length / step);
  const energy = Array.from({ length: steps }, (_, i) => rms(samples.subarray(i * step, (i + 1) * step)) ** 2);
  const { first, last, floor } = locate(energy);
  const [start, end] = [Math.max(0, first * step), Math.min(samples.length, last * step)];
  const level = decibels(rms(samples.subarray(start, end)));
  const noise = decibels(floor);
  const edge = 0.05 * sampleRate;
  /** @type {keyof typeof FAULTS | null} */
  let fault = null;
  if (level === -Infinity) fault = "silent";
  else if (level - noise < 10 || end - start < 0.18 * sampleRate) fault = "no_word";
  else if (level < -50) fault = "quiet";
  else if (isClipped(samples)) fault = "clipped";
  else if (start < edge) fault = "beginning_cut";
  else if (end > samples.length - edge) fault = "end_cut";
  const from = Math.max(0, start - Math.round(MARGIN * sampleRate));
  const kept = samples.slice(from, end + Math.round(MARGIN * sampleRate));
  const word = /** @type {[number, number]} */ ([start - from, end - from].map((at) => at / sampleRate));
  return { samples: kept, sampleRate, word, level, noise, fault: fault && FAULTS[fault] };
}

/**
 * The takes as the folder that `wakeword record` writes, and what was measured of each, in a zip.
 * @param {Take[]} takes
 * @param {string} keyword
 * @param {string} source the microphone's name
 */
export function archive(takes, keyword, source) {
  const name = nameOf(keyword);
  const files = new Map();
  takes.forEach((take, i) => {
    const stem = `${name}/${name}-${String(i + 1).padStart(4, "0")}`;
    const about = {
      keyword,
      source,
      sample_rate: take.sampleRate,
      level_db: rounded(take.level, 1),
      noise_db: Number.isFinite(take.noise) ? rounded(take.noise, 1) : null,
      word: take.word.map((at) => rounded(at, 2)),
      fault: null,
      recorded: new Date().toISOString(),
    };
    files.set(`${stem}.json`, new TextEncoder().encode(`${JSON.stringify(about)}\n`));
    files.set(`${stem}.wav`, writeWav(take.samples, take.sampleRate));
  });
  return zipOf(files);
}

/** A keyword as a file name; empty if it has no letter or digit. @param {string} keyword */
export function nameOf(keyword) {
  return keyword.replace(/[^\p{L}\p{N}_]+/gu, "_").replace(/^_+|_+$/g, "");
}

/** @param {number} value @param {number} digits */
function rounded(value, digits) {
  return Number(value.toFixed(digits));
}
