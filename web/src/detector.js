/** Detects wake words in one stream of audio: blocks in, events out. */

import { Engine } from "./engine.js";
import { ClosedError, ConfigError, unpacked } from "./errors.js";
import { Host } from "./host.js";

/** @typedef {import("./stream.js").Detection} Detection */
/** @typedef {import("./stream.js").Heard} Heard */
/** @typedef {import("./engine.js").Source} Source */
/** @typedef {import("./engine.js").Word} Word */
/** @typedef {string | URL | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob} Given a model: its address, or the bytes of its file */

/**
 * @typedef {object} DetectorOptions
 * @property {string | Record<string, string> | null} [point] operating point, for all keywords or for each; default: the
 *   model's own choice
 * @property {number | Record<string, number> | null} [threshold] in its place
 * @property {boolean} [verify] whether models of two stages use the second one; default: true
 * @property {string | URL} [encoders] the folder of the networks that models share; default: `../encoders/` of each model
 * @property {string | URL} [runtime] the folder of onnxruntime-web's files; default: where npm installs it
 * @property {boolean} [worker] whether to work in a thread of its own; default: true where there are workers
 * @property {number} [hop] frames between the ends of two windows; default: 16, so 160 ms
 * @property {number} [refractory] frames of 10 ms after a detection in which none is reported; default: 100
 * @property {number} [preRoll] seconds of audio before the window in a detection; default: 0.5
 * @property {boolean} [gate] save the work on steady quiet, without an effect on detections; default: true
 */

/**
 * Anything that gives blocks of mono audio until it ends: a `FileSource`, a generator.
 * @typedef {{ sampleRate: number, blocks: () => AsyncIterable<Float32Array> | Iterable<Float32Array> }} AudioSource
 */

/**
 * Events: `detection` (`detail`: a `Detection`), `heard` (`detail`: a `Heard`, after each piece of audio that completed
 * windows), `lost` (`detail`: seconds of a microphone's audio that were dropped because this machine is too slow) and
 * `error` (`detail`: what ended the work on a microphone's block).
 */
export class Detector extends EventTarget {
  /** Use `Detector.load`. @param {Backend} backend @param {Word[]} words */
  constructor(backend, words) {
    super();
    this._backend = backend;
    this._words = words;
    this._closed = false;
    backend.listen((message) => this._report(message));
  }

  /**
   * Load one or more models.
   * @param {Given | Given[]} models
   * @param {DetectorOptions} [options]
   * @returns {Promise<Detector>} rejects with `ModelError` for an unusable model and `ConfigError` for other settings
   */
  static async load(models, options = {}) {
    const isPage = typeof Worker === "function" && typeof document === "object";
    const { verify = true, worker = isPage, encoders, runtime, ...rest } = options;
    const sources = await Promise.all((Array.isArray(models) ? models : [models]).map(sourceOf));
    /** @type {import("./engine.js").EngineOptions} */
    const settings = { ...rest, verify, encoders: addressOf(encoders), runtime: addressOf(runtime) };
    const backend = worker ? new WorkerBackend(Host.shared()) : new LocalBackend();
    try {
      return new Detector(backend, await backend.load(sources, settings));
    } catch (error) {
      await backend.close();
      throw error;
    }
  }

  /** The words that are detected. */
  get keywords() {
    return this._words.map((word) => word.keyword);
  }

  /** The words with the threshold in force and the card of their model. @returns {readonly Word[]} */
  get words() {
    return this._words;
  }

  /**
   * Process a block of any length.
   * @param {Float32Array} block mono, -1 to 1; copied
   * @param {number} [sampleRate] Hz; one stream has one
   * @returns {Promise<Detection[]>} the detections that it completes, which are also events. Rejects with `AudioFormatError`
   * for samples that cannot be used, which leaves the stream unchanged, and with `ClosedError` after `close`.
   */
  push(block, sampleRate = 16_000) {
    return this._open().push(block, sampleRate);
  }

  /** End the stream: silence until a window covers the last sample. Then begin a new one. @returns {Promise<Detection[]>} */
  flush() {
    return this._open().flush();
  }

  /** Begin a new stream at time 0. @returns {Promise<void>} */
  reset() {
    return this._open().call("reset", []);
  }

  /**
   * Listen to a source until it ends; yields detections as they occur. Begins and ends its own stream.
   * @param {AudioSource} source
   * @returns {AsyncGenerator<Detection>}
   */
  async *run(source) {
    await this.reset();
    for await (const block of source.blocks()) yield* await this.push(block, source.sampleRate);
    yield* await this.flush();
  }

  /** @param {string} keyword @param {number} threshold @returns {Promise<void>} */
  async setThreshold(keyword, threshold) {
    await this._open().call("setThreshold", [keyword, threshold]);
    this._words = this._words.map((word) => (word.keyword === keyword ? { ...word, threshold } : word));
  }

  /** Detect nothing while the page itself speaks: until `suppress(false)`. @param {boolean} wanted @returns {Promise<void>} */
  suppress(wanted) {
    return this._open().call("suppress", [wanted]);
  }

  /**
   * Take audio from a port, to which something posts `Float32Array` blocks: what `Microphone.connect` does.
   * @param {MessagePort} port
   * @param {number} sampleRate
   * @returns {Promise<void>}
   */
  tap(port, sampleRate) {
    return this._open().tap(port, sampleRate);
  }

  /** Take no more audio from the port. @returns {Promise<void>} */
  untap() {
    return this._open().untap();
  }

  /** Free what it holds. @returns {Promise<void>} */
  async close() {
    if (this._closed) return;
    this._closed = true;
    await this._backend.close();
  }

  _open() {
    if (this._closed) throw new ClosedError("expected an open detector, got one that was closed; load a new one");
    return this._backend;
  }

  /** @param {Parameters<import("./host.js").Report>[0]} message */
  _report({ heard, lost, failure }) {
    for (const detection of heard?.detections ?? []) this._send("detection", detection);
    if (heard) this._send("heard", heard);
    if (lost !== undefined) this._send("lost", lost);
    if (failure) this._send("error", unpacked(failure));
  }

  /** @param {string} type @param {unknown} detail */
  _send(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** @typedef {WorkerBackend | LocalBackend} Backend */

class WorkerBackend {
  /** @param {Host} host */
  constructor(host) {
    this._host = host;
    /** @type {import("./host.js").Report} */
    this._report = () => {};
    this._detector = host.add((message) => this._report(message));
  }

  /** @param {import("./host.js").Report} report */
  listen(report) {
    this._report = report;
  }

  /** @param {Source[]} sources @param {import("./engine.js").EngineOptions} options @returns {Promise<Word[]>} */
  load(sources, options) {
    return this.call("load", [sources, options]);
  }

  /** @param {Float32Array} block @param {number} rate @returns {Promise<Detection[]>} */
  push(block, rate) {
    return this.call("push", [block, rate]);
  }

  /** @returns {Promise<Detection[]>} */
  flush() {
    return this.call("flush", []);
  }

  /** @param {MessagePort} port @param {number} rate @returns {Promise<void>} */
  tap(port, rate) {
    return this.call("tap", [port, rate], [port]);
  }

  /** @returns {Promise<void>} */
  untap() {
    return this.call("untap", []);
  }

  /** @param {string} name @param {unknown[]} args @param {Transferable[]} [transfer] @returns {Promise<any>} */
  call(name, args, transfer) {
    return this._host.call(this._detector, name, args, transfer);
  }

  close() {
    return this._host.remove(this._detector);
  }
}

/** The same in this thread: in Node, in a worker of one's own, or where there are none. */
class LocalBackend {
  constructor() {
    /** @type {Engine | null} */
    this._engine = null;
    /** @type {import("./host.js").Report} */
    this._report = () => {};
    /** @type {MessagePort | null} */
    this._port = null;
  }

  /** @param {import("./host.js").Report} report */
  listen(report) {
    this._report = report;
  }

  /** @param {Source[]} sources @param {import("./engine.js").EngineOptions} options @returns {Promise<Word[]>} */
  async load(sources, options) {
    this._engine = await Engine.load(sources, options);
    return this._engine.words;
  }

  /** @param {Float32Array} block @param {number} rate @returns {Promise<Detection[]>} */
  push(block, rate) {
    // A copy: the caller may use the array again before its turn comes.
    const copy = block instanceof Float32Array ? block.slice() : block;
    return this._loaded().push(copy, rate, (heard) => this._report({ heard }));
  }

  /** @returns {Promise<Detection[]>} */
  flush() {
    return this._loaded().flush((heard) => this._report({ heard }));
  }

  /** @param {MessagePort} port @param {number} rate @returns {Promise<void>} */
  async tap(port, rate) {
    await this.untap();
    await this._loaded().reset();
    this._port = port;
    port.onmessage = ({ data }) => {
      this.push(data, rate).catch((error) => this._report({ failure: error }));
    };
  }

  /** @returns {Promise<void>} */
  async untap() {
    this._port?.close();
    this._port = null;
  }

  /** @param {string} name @param {any[]} args @returns {Promise<any>} */
  async call(name, args) {
    const engine = /** @type {any} */ (this._loaded());
    return engine[name](...args);
  }

  async close() {
    await this.untap();
    const engine = this._engine;
    this._engine = null;
    await engine?.close();
  }

  _loaded() {
    if (!this._engine) throw new ClosedError("expected a loaded detector, got none");
    return this._engine;
  }
}

/** @param {Given} given @returns {Promise<Source>} */
async function sourceOf(given) {
  if (typeof given === "string" || given instanceof URL) return { url: /** @type {string} */ (addressOf(given)) };
  if (given instanceof Uint8Array) return { data: given, name: "the model file" };
  if (given instanceof ArrayBuffer) return { data: new Uint8Array(given), name: "the model file" };
  if (given instanceof Blob) {
    const name = given instanceof File ? given.name : "the model file";
    return { data: new Uint8Array(await given.arrayBuffer()), name };
  }
  throw new ConfigError(`expected the address or the bytes of a model file, got ${String(given).slice(0, 80)}`);
}

/** @param {string | URL | null | undefined} given @returns {string | null} */
function addressOf(given) {
  if (given === null || given === undefined) return null;
  return new URL(given, globalThis.document?.baseURI ?? globalThis.location?.href).href;
}
