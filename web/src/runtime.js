/** ONNX Runtime for the web: its networks, in one thread. */

import { ModelError } from "./errors.js";

/** @typedef {typeof import("onnxruntime-web")} Ort */
/** @typedef {import("onnxruntime-web").InferenceSession} Session */
/** @typedef {Record<string, import("onnxruntime-web").Tensor>} Tensors */

const SCRIPT = "ort.wasm.min.mjs";

/** Where npm installs onnxruntime-web: beside this package. */
const INSTALLED = new URL("../../onnxruntime-web/dist/", import.meta.url).href;

/** @type {Map<string, Promise<Ort>>} */
const loaded = new Map();

/**
 * ONNX Runtime from the folder of its files `ort.wasm.min.mjs`, `ort-wasm-simd-threaded.mjs` and `.wasm`.
 * By its address and not by its name: import maps do not reach into workers.
 * @param {string} [folder] the folder's URL
 * @returns {Promise<Ort>} rejects with `ModelError` if it cannot be loaded
 */
export function loadOrt(folder = INSTALLED) {
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  let ort = loaded.get(base);
  if (!ort) {
    ort = open(base).catch((error) => {
      loaded.delete(base);
      throw error;
    });
    loaded.set(base, ort);
  }
  return ort;
}

/** @param {string} base @returns {Promise<Ort>} */
async function open(base) {
  /** @type {Ort} */
  let ort;
  try {
    ort = await import(/* @vite-ignore */ /* webpackIgnore: true */ base + SCRIPT);
  } catch (error) {
    throw new ModelError(
      `expected ONNX Runtime at ${base}${SCRIPT}, could not load it (${messageOf(error)}); give the folder of ` +
        "onnxruntime-web/dist as `runtime`",
      { cause: error },
    );
  }
  // More threads need a page that is isolated from others, and gain nothing for networks this small.
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = base;
  // It warns at each load of an initialiser that it removes itself.
  ort.env.logLevel = "error";
  return ort;
}

/**
 * A session of a network. Rejects with `ModelError` for what is none.
 * @param {Ort} ort
 * @param {Uint8Array} data
 * @returns {Promise<Session>}
 */
export async function openSession(ort, data) {
  try {
    return await ort.InferenceSession.create(data, { executionProviders: ["wasm"], logSeverityLevel: 3 });
  } catch (error) {
    throw new ModelError(`not an ONNX model that can be run (${messageOf(error)})`, { cause: error });
  }
}

/**
 * Run a session. Rejects with `ModelError` if it cannot be run.
 * @param {Session} session
 * @param {Tensors} inputs
 * @returns {Promise<Tensors>}
 */
export async function runSession(session, inputs) {
  try {
    return await session.run(inputs);
  } catch (error) {
    throw new ModelError(`the network cannot be run (${messageOf(error)})`, { cause: error });
  }
}

/**
 * The shapes of a session's inputs by their names; a size that is free is a name.
 * @param {Session} session
 * @returns {Map<string, readonly (number | string)[]>}
 */
export function inputShapes(session) {
  return new Map(session.inputMetadata.map((one) => [one.name, one.isTensor ? one.shape : []]));
}

/** @param {unknown} error */
export function messageOf(error) {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0].slice(0, 300);
}
