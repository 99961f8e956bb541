/** A detector's work, in whatever thread it runs: loading models, and its stream. `detector.js` is the face of it. */

import { ConfigError, ModelError } from "./errors.js";
import { fetchBytes } from "./files.js";
import { Model } from "./model.js";
import { loadOrt } from "./runtime.js";
import { Stream } from "./stream.js";
import { SharedNetworks } from "./verifier.js";

/** @typedef {import("./stream.js").Detection} Detection */
/** @typedef {import("./stream.js").Heard} Heard */

/** What to load. @typedef {{ url: string } | { data: Uint8Array<ArrayBuffer>, name: string }} Source */

/**
 * @typedef {import("./stream.js").StreamOptions & {
 *   verify: boolean, encoders: string | null, runtime: string | null,
 * }} EngineOptions
 */

/**
 * What a detector says of one keyword.
 * @typedef {{ keyword: string, threshold: number, card: import("./card.js").Card }} Word
 */

/** Models that were loaded in this thread, by their address: several detectors share them. @type {Map<string, Promise<Model>>} */
const models = new Map();
/** @type {Map<string, SharedNetworks>} */
const shared = new Map();

export class Engine {
  /** @param {Model[]} loaded @param {EngineOptions} options */
  constructor(loaded, options) {
    this._stream = new Stream(loaded, options);
    this._models = loaded;
    /** The work under way; each piece of it waits for the one before. @type {Promise<unknown>} */
    this._last = Promise.resolve();
  }

  /**
   * @param {Source[]} sources
   * @param {EngineOptions} options
   * @returns {Promise<Engine>} rejects with `ModelError` and `ConfigError`
   */
  static async load(sources, options) {
    const ort = await loadOrt(options.runtime ?? undefined);
    return new Engine(await Promise.all(sources.map((source) => loadModel(ort, source, options))), options);
  }

  /** @returns {Word[]} */
  get words() {
    return this._stream.keywords.map(({ name, card, trigger }) => ({ keyword: name, threshold: trigger.threshold, card }));
  }

  /**
   * @param {Float32Array} block
   * @param {number} rate
   * @param {(heard: Heard) => void} report called with what comes of it, piece by piece
   * @returns {Promise<Detection[]>}
   */
  push(block, rate, report) {
    return this._next(() => collect(this._stream.push(block, rate), report));
  }

  /** @param {(heard: Heard) => void} report @returns {Promise<Detection[]>} */
  flush(report) {
    return this._next(() => collect(this._stream.flush(), report));
  }

  /** @returns {Promise<void>} */
  reset() {
    return this._next(async () => this._stream.reset());
  }

  /** @param {boolean} wanted @returns {Promise<void>} */
  suppress(wanted) {
    return this._next(async () => this._stream.suppress(wanted));
  }

  /** @param {string} keyword @param {unknown} threshold @returns {Promise<void>} */
  setThreshold(keyword, threshold) {
    return this._next(async () => this._stream.setThreshold(keyword, threshold));
  }

  /** Free what no other detector of this thread uses, once the work under way is done. @returns {Promise<void>} */
  close() {
    return this._next(async () => {
      const kept = new Set(await Promise.all([...models.values()].map((model) => model.catch(() => null))));
      for (const model of this._models) if (!kept.has(model)) await model.release();
    });
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  _next(work) {
    const next = this._last.then(work);
    // What failed is reported to its caller; what comes next is not touched by it.
    this._last = next.catch(() => {});
    return next;
  }
}

/** @param {AsyncGenerator<Heard>} pieces @param {(heard: Heard) => void} report */
async function collect(pieces, report) {
  const found = [];
  for await (const heard of pieces) {
    found.push(...heard.detections);
    report(heard);
  }
  return found;
}

/**
 * @param {import("./runtime.js").Ort} ort
 * @param {Source} source
 * @param {EngineOptions} options
 * @returns {Promise<Model>}
 */
function loadModel(ort, source, options) {
  const name = "url" in source ? source.url : source.name;
  const folder = options.encoders ?? ("url" in source ? new URL("../encoders/", source.url).href : null);
  const load = async () => {
    const data = "url" in source ? await fetchBytes(source.url) : source.data;
    try {
      return await Model.parse(ort, data, { verify: options.verify, shared: sharedOf(ort, folder) });
    } catch (error) {
      throw error instanceof ModelError ? new ModelError(`${name}: ${error.message}`, { cause: error }) : error;
    }
  };
  if (!("url" in source)) return load();
  const key = JSON.stringify([name, folder, options.verify]);
  let loading = models.get(key);
  if (!loading) {
    models.set(key, (loading = load()));
    loading.catch(() => models.delete(key));
  }
  return loading;
}

/** @param {import("./runtime.js").Ort} ort @param {string | null} folder @returns {SharedNetworks} */
function sharedOf(ort, folder) {
  const key = folder ?? "";
  let found = shared.get(key);
  if (!found) {
    if (folder === null) {
      const missing = () => {
        throw new ConfigError("expected `encoders`, the URL of the folder of the shared networks, with a model given as bytes");
      };
      return /** @type {SharedNetworks} */ (/** @type {unknown} */ ({ embedding: missing, phonemes: missing }));
    }
    shared.set(key, (found = new SharedNetworks(ort, folder)));
  }
  return found;
}
