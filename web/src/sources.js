/** Recordings as sources of audio. */

import { AudioFormatError } from "./errors.js";
import { SAMPLE_RATE } from "./features.js";
import { messageOf } from "./runtime.js";
import { readWav } from "./wav.js";

/** Samples in a block: a tenth of a second at 16 kHz, so that a file behaves as a microphone. */
const BLOCK = 1_600;

/** A recording: WAV at its own rate, and what the browser decodes (flac, mp3, ogg, opus, m4a) at 16 kHz. */
export class FileSource {
  /** Use `FileSource.open`. @param {Float32Array} samples mono @param {number} sampleRate */
  constructor(samples, sampleRate) {
    this.samples = samples;
    this.sampleRate = sampleRate;
  }

  /**
   * @param {Blob | ArrayBuffer | string | URL} file a file, its bytes, or its address
   * @returns {Promise<FileSource>} rejects with `AudioFormatError` if it cannot be read
   */
  static async open(file) {
    const data = await bytesOf(file);
    const wav = readWav(data);
    if (wav) return new FileSource(wav.samples, wav.sampleRate);
    if (typeof OfflineAudioContext === "undefined") {
      throw new AudioFormatError("expected a WAV file where there is no browser to decode others");
    }
    let decoded;
    try {
      decoded = await new OfflineAudioContext(1, 1, SAMPLE_RATE).decodeAudioData(data);
    } catch (error) {
      throw new AudioFormatError(`expected a recording that this browser can decode (${messageOf(error)})`, { cause: error });
    }
    const samples = new Float32Array(decoded.length);
    for (let channel = 0; channel < decoded.numberOfChannels; channel++) {
      decoded.getChannelData(channel).forEach((sample, n) => (samples[n] += sample / decoded.numberOfChannels));
    }
    return new FileSource(samples, SAMPLE_RATE);
  }

  /** Length in seconds. */
  get seconds() {
    return this.samples.length / this.sampleRate;
  }

  /** The recording in blocks. @returns {Generator<Float32Array>} */
  *blocks() {
    for (let start = 0; start < this.samples.length; start += BLOCK) yield this.samples.subarray(start, start + BLOCK);
  }
}

/** @param {Blob | ArrayBuffer | string | URL} file @returns {Promise<ArrayBuffer>} */
async function bytesOf(file) {
  if (file instanceof ArrayBuffer) return file;
  if (file instanceof Blob) return file.arrayBuffer();
  const response = await fetch(file);
  if (!response.ok) throw new AudioFormatError(`expected a recording at ${file}, got status ${response.status}`);
  return response.arrayBuffer();
}
