/** The worker of this page, from outside: calls to it, and what it reports. */

import { ModelError, packed, unpacked } from "./errors.js";

/** @typedef {{ heard?: import("./stream.js").Heard, lost?: number, failure?: { name: string, message: string } }} Reported */
/** @typedef {(message: Reported) => void} Report */

/** One worker for all detectors of a page, so that ONNX Runtime and the models are loaded once. */
export class Host {
  constructor() {
    this._worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "wakeword" });
    this._requests = 0;
    /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
    this._waiting = new Map();
    /** @type {Map<number, Report>} */
    this._reports = new Map();
    this._detectors = 0;
    /** Why the worker is gone. @type {{ name: string, message: string } | null} */
    this._failure = null;
    this._worker.onmessage = ({ data }) => this._receive(data);
    this._worker.onerror = (event) => this._fail(event.message || "the script could not be loaded");
  }

  /** The worker of this page, started when it is first needed. @returns {Host} */
  static shared() {
    return (Host._shared ??= new Host());
  }

  /** @param {Report} report called with what the detector reports @returns {number} the new detector's number */
  add(report) {
    this._detectors += 1;
    this._reports.set(this._detectors, report);
    return this._detectors;
  }

  /**
   * @param {number} detector
   * @param {string} name
   * @param {unknown[]} args
   * @param {Transferable[]} [transfer]
   * @returns {Promise<any>}
   */
  call(detector, name, args, transfer = []) {
    // A worker that is gone answers nothing.
    if (this._failure) return Promise.reject(unpacked(this._failure));
    return new Promise((resolve, reject) => {
      const id = ++this._requests;
      this._waiting.set(id, { resolve, reject });
      this._worker.postMessage({ id, detector, call: name, args }, transfer);
    });
  }

  /** @param {number} detector */
  async remove(detector) {
    this._reports.delete(detector);
    if (!this._failure) await this.call(detector, "close", []);
  }

  /** @param {any} message */
  _receive(message) {
    if (message.detector !== undefined) {
      this._reports.get(message.detector)?.(message);
      return;
    }
    const waiting = this._waiting.get(message.id);
    this._waiting.delete(message.id);
    if (message.error) waiting?.reject(unpacked(message.error));
    else waiting?.resolve(message.result);
  }

  /** @param {string} reason */
  _fail(reason) {
    const failure = packed(new ModelError(`the worker of wakeword-web failed: ${reason}; load the detector again`));
    this._failure = failure;
    this._worker.terminate();
    for (const { reject } of this._waiting.values()) reject(unpacked(failure));
    this._waiting.clear();
    for (const report of this._reports.values()) report({ failure });
    // The next detector starts a new one.
    if (Host._shared === this) Host._shared = undefined;
  }
}

/** @type {Host | undefined} */
Host._shared = undefined;
