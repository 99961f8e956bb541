/** Getting files: over the network, from the cache, or in Node from the disk. */

import { ModelError } from "./errors.js";
import { sha256 } from "./protobuf.js";
import { messageOf } from "./runtime.js";

/** Larger files are refused; a model takes under 1 MB, the largest shared network 10 MB. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const CACHE = "wakeword-shared-networks";

/**
 * The bytes of a file. Rejects with `ModelError` if it cannot be had.
 * @param {string} url
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function fetchBytes(url) {
  if (url.startsWith("file:") && typeof process === "object") return readFile(url);
  let data;
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    data = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new ModelError(`expected a file at ${url}, could not fetch it: ${messageOf(error)}; check the address, or go online`, {
      cause: error,
    });
  }
  return limited(data, url);
}

/** @param {string} url @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function readFile(url) {
  // A name that bundlers for the browser do not look up.
  const module = "node:fs/promises";
  const files = await import(/* @vite-ignore */ /* webpackIgnore: true */ module);
  try {
    return limited(new Uint8Array(await files.readFile(new URL(url))), url);
  } catch (error) {
    throw new ModelError(`expected a file at ${url}, could not read it: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {Uint8Array<ArrayBuffer>} data @param {string} what */
export function limited(data, what) {
  if (data.length > MAX_FILE_BYTES) {
    throw new ModelError(`expected at most ${MAX_FILE_BYTES} bytes, got ${data.length} in ${what}`);
  }
  return data;
}

/**
 * A network that models share, by its digest: from the cache of the page's origin, or fetched once and kept there.
 * @param {string} url
 * @param {string} digest SHA-256, in hex
 * @param {string | null} other where it is if `url` has another one
 * @returns {Promise<Uint8Array<ArrayBuffer>>} rejects with `ModelError` for a file of another digest
 */
export async function fetchShared(url, digest, other = null) {
  const cache = await openCache();
  const key = new URL(`?sha256=${digest}`, url).href;
  const kept = await cache?.match(key);
  if (kept) {
    const data = new Uint8Array(await kept.arrayBuffer());
    if ((await sha256(data)) === digest) return data;
    await cache?.delete(key);
  }
  const data = await fetchBytes(url);
  const found = await sha256(data);
  if (found !== digest) {
    if (other !== null) return fetchShared(other, digest);
    throw new ModelError(
      `expected at ${url} the shared network of digest ${digest.slice(0, 16)}, with which the model was trained, got ` +
        `${found.slice(0, 16)}; serve the file of the version that the model is for, or set verify to false`,
    );
  }
  // A full disk must not keep the detector from working.
  await cache?.put(key, new Response(data)).catch(() => {});
  return data;
}

/** @returns {Promise<Cache | undefined>} none in Node, and where the browser refuses storage */
async function openCache() {
  try {
    return await globalThis.caches?.open(CACHE);
  } catch {
    return undefined;
  }
}
