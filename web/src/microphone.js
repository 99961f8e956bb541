/** The microphone: its permission, its states, and a tap from the audio thread to a detector. */

import { MicrophoneError } from "./errors.js";
import { SAMPLE_RATE } from "./features.js";
import { messageOf } from "./runtime.js";

/** @typedef {"running" | "suspended" | "lost" | "closed"} MicrophoneState */
/** @typedef {ConstructorParameters<typeof MicrophoneError>[0]} Reason */

/** What the browser's errors mean. @type {Record<string, [Reason, string]>} */
const REASONS = {
  NotFoundError: ["none", "expected a microphone, found none; connect one"],
  OverconstrainedError: ["none", "expected the microphone that was chosen, found others; choose again"],
  NotAllowedError: ["refused", "expected permission to use the microphone, it was refused; allow it in the site's settings"],
  SecurityError: ["refused", "expected permission to use the microphone, the page may not ask; check its permissions policy"],
  NotReadableError: ["busy", "expected a microphone that can be opened, another program may use it; close that one"],
};

/**
 * A microphone of this machine. Event: `state`, when `state` has changed: "suspended" when the browser has stopped the audio
 * (call `resume` in a handler of a click), "lost" when the device is gone, "closed" after `close`.
 */
export class Microphone extends EventTarget {
  /** Use `Microphone.open`. @param {MediaStream} media @param {AudioContext} context @param {MediaStreamAudioSourceNode} source */
  constructor(media, context, source) {
    super();
    this._media = media;
    this._context = context;
    this._source = source;
    /** @type {AudioWorkletNode | null} */
    this._tap = null;
    /** @type {import("./detector.js").Detector | null} */
    this._detector = null;
    this._isLost = false;
    this._isClosed = false;
    this._last = this.state;
    context.addEventListener("statechange", () => this._changed());
    for (const track of media.getAudioTracks()) {
      track.addEventListener("ended", () => {
        this._isLost = true;
        this._changed();
      });
    }
  }

  /**
   * Open a microphone. The browser asks for permission; call it in a handler of a click, or the audio begins suspended.
   * @param {{ deviceId?: string }} [options]
   * @returns {Promise<Microphone>} rejects with `MicrophoneError`, whose `reason` says why
   */
  static async open({ deviceId } = {}) {
    if (!navigator.mediaDevices?.getUserMedia) {
      const message = "expected a secure page, as browsers give the microphone to no other: use https or localhost";
      throw new MicrophoneError("insecure", message);
    }
    // What makes speech pleasant for people changes it for models.
    const audio = {
      ...{ echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 },
      ...(deviceId ? { deviceId: { exact: deviceId } } : {}),
    };
    let media;
    try {
      media = await navigator.mediaDevices.getUserMedia({ audio });
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      const [reason, message] = REASONS[name] ?? ["failed", `the microphone could not be opened: ${messageOf(error)}`];
      throw new MicrophoneError(reason, message, { cause: error });
    }
    try {
      const { context, source } = await contextOf(media);
      return new Microphone(media, context, source);
    } catch (error) {
      for (const track of media.getTracks()) track.stop();
      throw new MicrophoneError("failed", `the microphone's audio could not be processed: ${messageOf(error)}`, { cause: error });
    }
  }

  /** @returns {MicrophoneState} */
  get state() {
    if (this._isClosed) return "closed";
    if (this._isLost) return "lost";
    return this._context.state === "running" ? "running" : "suspended";
  }

  /** Hz: 16000 where the browser resamples, the device's own rate elsewhere. */
  get sampleRate() {
    return this._context.sampleRate;
  }

  /** The device's name. */
  get label() {
    return this._media.getAudioTracks()[0]?.label ?? "";
  }

  /** Give the audio to a detector, which begins a new stream. @param {import("./detector.js").Detector} detector */
  async connect(detector) {
    await this.disconnect();
    const { port1, port2 } = new MessageChannel();
    await detector.tap(port1, this.sampleRate);
    this._detector = detector;
    this._tap = this._tapInto(port2);
  }

  /** Take the audio from the detector. */
  async disconnect() {
    if (!this._tap) return;
    this._untap(this._tap);
    this._tap = null;
    const detector = this._detector;
    this._detector = null;
    // One that was closed meanwhile needs no more.
    await detector?.untap().catch(() => {});
  }

  /**
   * Record, whether or not a detector listens meanwhile.
   * @param {number} seconds
   * @returns {Promise<Float32Array>} mono, at `sampleRate`. Rejects with `MicrophoneError` if the audio ends before.
   */
  record(seconds) {
    const recorded = new Float32Array(Math.round(seconds * this.sampleRate));
    const { port1, port2 } = new MessageChannel();
    const tap = this._tapInto(port2);
    let filled = 0;
    /** @type {() => void} */
    let stop = () => {};
    return new Promise((resolve, reject) => {
      stop = () => {
        if (this.state === "running") return;
        reject(new MicrophoneError("failed", `expected ${seconds} s of audio, it stopped before; try again`));
      };
      this.addEventListener("state", stop);
      port1.onmessage = ({ data }) => {
        recorded.set(data.subarray(0, recorded.length - filled), filled);
        filled = Math.min(recorded.length, filled + data.length);
        if (filled === recorded.length) resolve(recorded);
      };
    }).finally(() => {
      this.removeEventListener("state", stop);
      port1.close();
      this._untap(tap);
    });
  }

  /** @param {MessagePort} port */
  _tapInto(port) {
    const tap = new AudioWorkletNode(this._context, "wakeword-tap", { numberOfOutputs: 0 });
    tap.port.postMessage(port, [port]);
    this._source.connect(tap);
    return tap;
  }

  /** @param {AudioWorkletNode} tap */
  _untap(tap) {
    this._source.disconnect(tap);
    tap.port.postMessage("close");
  }

  /** Begin again after the browser has suspended the audio. Call it in a handler of a click. */
  async resume() {
    await this._context.resume();
    this._changed();
  }

  /** Stop the audio and keep the device, until `resume`. */
  async suspend() {
    await this._context.suspend();
    this._changed();
  }

  /** Release the device. */
  async close() {
    if (this._isClosed) return;
    this._isClosed = true;
    await this.disconnect();
    for (const track of this._media.getTracks()) track.stop();
    await this._context.close();
    this._changed();
  }

  _changed() {
    if (this.state === this._last) return;
    this._last = this.state;
    this.dispatchEvent(new CustomEvent("state", { detail: this.state }));
  }
}

/**
 * A context at 16 kHz, to which the browser resamples; Firefox refuses to, and gets one at the device's rate.
 * @param {MediaStream} media
 */
async function contextOf(media) {
  for (const options of [{ sampleRate: SAMPLE_RATE }, {}]) {
    const context = new AudioContext(options);
    try {
      const source = context.createMediaStreamSource(media);
      await context.audioWorklet.addModule(new URL("./worklet.js", import.meta.url));
      return { context, source };
    } catch (error) {
      await context.close();
      if (!("sampleRate" in options)) throw error;
    }
  }
  throw new Error("no context could be made");
}
