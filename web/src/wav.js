/** WAV files: read exactly, at their own rate, and written. */

import { AudioFormatError } from "./errors.js";

/**
 * Mono samples of a WAV file, of PCM with 8 to 32 bits or of float32; several channels are averaged.
 * @param {ArrayBuffer} data
 * @returns {{ samples: Float32Array, sampleRate: number } | null} `null` if it is no WAV file that is read here
 */
export function readWav(data) {
  const view = new DataView(data);
  const tag = (/** @type {number} */ at) => String.fromCharCode(...new Uint8Array(data, at, 4));
  if (data.byteLength < 12 || tag(0) !== "RIFF" || tag(8) !== "WAVE") return null;
  let format = null;
  for (let at = 12; at + 8 <= data.byteLength; ) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag(at) === "fmt " && size >= 16 && start + size <= data.byteLength) {
      const code = view.getUint16(start, true);
      format = {
        // In the extensible form the kind stands in the first bytes of its identifier.
        kind: code === 0xfffe && size >= 40 ? view.getUint16(start + 24, true) : code,
        channels: view.getUint16(start + 2, true),
        sampleRate: view.getUint32(start + 4, true),
        bytes: view.getUint16(start + 14, true) / 8,
      };
    } else if (tag(at) === "data" && format) {
      return samplesOf(view, start, Math.min(size, data.byteLength - start), format);
    }
    at = start + size + (size % 2);
  }
  throw new AudioFormatError("expected a whole WAV file, got one without format or samples: it is damaged");
}

/**
 * @param {DataView} view
 * @param {number} start
 * @param {number} size
 * @param {{ kind: number, channels: number, sampleRate: number, bytes: number }} format
 */
function samplesOf(view, start, size, { kind, channels, sampleRate, bytes }) {
  const isPcm = kind === 1 && [1, 2, 3, 4].includes(bytes);
  if (!channels || !(isPcm || (kind === 3 && bytes === 4))) return null;
  /** @param {number} at */
  const read = (at) => {
    if (kind === 3) return view.getFloat32(at, true);
    if (bytes === 1) return (view.getUint8(at) - 128) / 2 ** 7;
    if (bytes === 2) return view.getInt16(at, true) / 2 ** 15;
    if (bytes === 3) return (view.getUint16(at, true) / 256 + view.getInt8(at + 2) * 256) / 2 ** 15;
    return view.getInt32(at, true) / 2 ** 31;
  };
  const samples = new Float32Array(Math.floor(size / (bytes * channels)));
  for (let n = 0; n < samples.length; n++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += read(start + (n * channels + channel) * bytes);
    samples[n] = sum / channels;
  }
  return { samples, sampleRate };
}

/**
 * A WAV file of mono 16-bit PCM.
 * @param {Float32Array} samples -1 to 1
 * @param {number} sampleRate
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeWav(samples, sampleRate) {
  const data = new Uint8Array(44 + 2 * samples.length);
  const view = new DataView(data.buffer);
  const text = (/** @type {number} */ at, /** @type {string} */ value) => data.set(new TextEncoder().encode(value), at);
  text(0, "RIFF");
  view.setUint32(4, data.length - 8, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, 2 * sampleRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, n) => {
    view.setInt16(44 + 2 * n, Math.round(Math.min(1, Math.max(-1, sample)) * 32_767), true);
  });
  return data;
}
