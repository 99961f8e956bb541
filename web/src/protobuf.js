/** The metadata of an ONNX file, and the digest over it. ONNX Runtime does not give them in the browser. */

import { ModelError } from "./errors.js";

const METADATA_PROPS = 14;
const DIGEST_KEY = "wakeword.sha256";
const NOT_A_MODEL = "not an ONNX model: truncated, damaged or of another kind";
const MAX_FIELDS = 20_000;

/**
 * @typedef {object} Field
 * @property {number} number
 * @property {number} start where the content begins in the file
 * @property {number} end
 */

/**
 * The fields of bytes in one message; numbers are passed over.
 * @param {Uint8Array} data
 * @param {number} start
 * @param {number} end
 * @returns {Generator<Field>}
 */
function* fields(data, start, end) {
  let at = start;
  const number = () => {
    let value = 0;
    for (let place = 0; place < 10; place++) {
      if (at >= end) break;
      const byte = data[at++];
      value += (byte & 0x7f) * 2 ** (7 * place);
      if (byte < 0x80) return value;
    }
    throw new ModelError(`${NOT_A_MODEL} (a number without an end)`);
  };
  for (let count = 0; at < end; count++) {
    const key = number();
    const kind = key % 8;
    const value = number();
    if ((kind !== 0 && kind !== 2) || count > MAX_FIELDS) {
      throw new ModelError(`${NOT_A_MODEL} (a field of kind ${kind})`);
    }
    if (kind === 0) continue;
    if (value > end - at) throw new ModelError(`${NOT_A_MODEL} (a field reaches beyond its end)`);
    yield { number: Math.floor(key / 8), start: at, end: at + value };
    at += value;
  }
}

/**
 * The metadata of a model file, after its digest has been compared.
 * @param {Uint8Array} data
 * @returns {Promise<{ entries: Map<string, string>, digest: string | null }>} `digest`: that of the file, in hex, `null`
 * if it holds none. Rejects with `ModelError` if the bytes differ from those that were written, or are no ONNX file.
 */
export async function checkedMetadata(data) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  /** @type {Map<string, string>} */
  const entries = new Map();
  let digest = null;
  if (!data.length) throw new ModelError(`${NOT_A_MODEL} (no bytes)`);
  for (const field of fields(data, 0, data.length)) {
    if (field.number !== METADATA_PROPS) continue;
    const parts = [...fields(data, field.start, field.end)];
    const [key, value] = [1, 2].map((number) => parts.find((part) => part.number === number));
    if (!key || !value || parts.length !== 2) throw new ModelError(`${NOT_A_MODEL} (an entry of another form)`);
    let name, text;
    try {
      [name, text] = [key, value].map((part) => decoder.decode(data.subarray(part.start, part.end)));
    } catch (error) {
      throw new ModelError(`${NOT_A_MODEL} (text that is not UTF-8)`, { cause: error });
    }
    if (entries.has(name) || (name === DIGEST_KEY && digest)) {
      throw new ModelError(`expected metadata with different keys, got two entries ${name}: the file is damaged`);
    }
    if (name === DIGEST_KEY) digest = await checkedDigest(data, value, text);
    else entries.set(name, text);
  }
  return { entries, digest };
}

/**
 * @param {Uint8Array} data
 * @param {Field} field
 * @param {string} text
 */
async function checkedDigest(data, field, text) {
  const zeroed = data.slice();
  // The digest is of the file with its own digits taken as zeros.
  zeroed.fill("0".charCodeAt(0), field.start, field.end);
  const found = await sha256(zeroed);
  if (found !== text) {
    throw new ModelError(
      `expected a file of the digest that it holds, got one of SHA-256 ${found.slice(0, 16)}...: it is damaged, or was ` +
        "changed without a new digest; get it again",
    );
  }
  return found;
}

/**
 * SHA-256, in hex.
 * @param {Uint8Array} data
 * @returns {Promise<string>}
 */
export async function sha256(data) {
  if (!globalThis.crypto?.subtle) {
    throw new ModelError("expected a secure page, as digests are checked with crypto.subtle: use https or localhost");
  }
  const digest = await crypto.subtle.digest("SHA-256", /** @type {Uint8Array<ArrayBuffer>} */ (data));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
