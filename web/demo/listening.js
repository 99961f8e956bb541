/** What listens: the detector of the chosen words, the microphone, and the states of both. */

import { Detector, Microphone, MicrophoneError } from "../src/index.js";
import { told } from "./page.js";

/**
 * @typedef {"loading" | "ready" | "listening" | "paused" | "problem"} State
 * @typedef {string | File} Chosen a model: its address, or a file of the user's
 */

/** The root of a checkout, or of `wakeword web`. */
export const ROOT = new URL("../../", import.meta.url);
const OPTIONS = {
  encoders: new URL("assets/encoders/", ROOT),
  runtime: new URL("web/node_modules/onnxruntime-web/dist/", ROOT),
};

/** What to tell of a microphone that could not be opened. @type {Record<string, string>} */
const REFUSALS = {
  none: "No microphone was found. Connect one and press “Listen”.",
  refused: "The microphone was refused. Allow it in the settings of this site and press “Listen”.",
  busy: "The microphone cannot be opened: another program may use it. Close that and press “Listen”.",
  insecure: "Browsers give the microphone to pages from https or from this machine alone.",
};

/** @param {unknown} error */
export function refusal(error) {
  return (error instanceof MicrophoneError && REFUSALS[error.reason]) || told(error);
}

/** Events: `state` (`detail`: what to tell), and those of the detector. */
export class Listening extends EventTarget {
  constructor() {
    super();
    /** @type {Detector | null} */
    this.detector = null;
    /** @type {Microphone | null} */
    this.microphone = null;
    /** @type {Promise<Microphone> | null} */
    this._opening = null;
    /** Whether the detector has the microphone, which a take needs too. */
    this.isOn = false;
    /** @type {State} */
    this.state = "loading";
    this._changes = 0;
    this._message = "";
  }

  /**
   * Load the chosen models. What listens goes on with them; the ones before stay if it fails.
   * @param {Chosen[]} models
   * @param {boolean} verify
   * @returns {Promise<boolean | null>} whether these models are the ones in use; `null` if others were chosen meanwhile
   */
  async choose(models, verify) {
    const change = ++this._changes;
    if (!models.length) {
      await this.stop();
      await this._use(null);
      this._tell("ready", "Choose a word.");
      return true;
    }
    if (!this.detector) this._tell("loading", "Loading the models…");
    let detector;
    try {
      detector = await Detector.load(models, { ...OPTIONS, verify });
    } catch (error) {
      if (change !== this._changes) return null;
      this._tell("problem", told(error));
      return false;
    }
    // Another choice was made meanwhile.
    if (change !== this._changes) {
      await detector.close();
      return null;
    }
    await this._use(detector);
    if (this.isOn) await this._connect();
    else this._tell("ready", "Ready.");
    return true;
  }

  /** Open the microphone and listen. */
  async start() {
    if (!this.detector || this.isOn) return;
    this._tell("loading", "Waiting for the microphone…");
    await this._connect();
  }

  async _connect() {
    try {
      const microphone = await this.opened();
      if (!this.detector) return;
      await microphone.connect(this.detector);
      this.isOn = true;
      this._changed();
    } catch (error) {
      await this.stop();
      this._tell("problem", refusal(error));
    }
  }

  /** The microphone, opened if it is not open yet. Rejects with `MicrophoneError`. */
  opened() {
    if (this.microphone) return Promise.resolve(this.microphone);
    // Asked for by two buttons while the browser waits for permission, it is one.
    this._opening ??= this._open().finally(() => (this._opening = null));
    return this._opening;
  }

  async _open() {
    const microphone = await Microphone.open();
    this.microphone = microphone;
    microphone.addEventListener("state", () => this._changed());
    return microphone;
  }

  /** Release the microphone. */
  async stop() {
    const { microphone } = this;
    this.microphone = null;
    this.isOn = false;
    await microphone?.close();
    if (this.detector) this._tell("ready", "Ready.");
  }

  /** Go on after the browser has stopped the audio. */
  async resume() {
    await this.microphone?.resume();
  }

  /** @param {Detector | null} detector */
  async _use(detector) {
    const before = this.detector;
    this.detector = detector;
    for (const type of ["detection", "heard", "lost"]) {
      detector?.addEventListener(type, (event) => {
        this.dispatchEvent(new CustomEvent(type, { detail: /** @type {CustomEvent} */ (event).detail }));
      });
    }
    detector?.addEventListener("error", (event) => {
      this._tell("problem", told(/** @type {CustomEvent} */ (event).detail));
    });
    await before?.close();
  }

  _changed() {
    const { microphone } = this;
    if (!microphone) return;
    if (microphone.state !== "lost" && !this.isOn) return;
    if (microphone.state === "running") this._tell("listening", `Listening to ${microphone.label || "the microphone"}.`);
    else if (microphone.state === "suspended") {
      this._tell("paused", "The browser has stopped the audio. Press “Go on”.");
    } else if (microphone.state === "lost") {
      this.stop().then(() => this._tell("problem", "The microphone is gone. Connect it and press “Listen”."));
    }
  }

  /** @param {State} state @param {string} message */
  _tell(state, message) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: message }));
  }
}

/** Options for other detectors of this page. */
export const SHARED = OPTIONS;
