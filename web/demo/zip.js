/** Zip archives of files that are not compressed. Source: PKWARE, APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16. */

const UTF8_NAMES = 0x0800;
/** 1 January 1980, the first date that the format knows. */
const NO_DATE = 0x0021;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** @param {Uint8Array} data */
function crc32(data) {
  let crc = 0xffffffff;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Numbers as bytes, the lowest first: pairs of a number and its bytes. @param {[number, number][]} fields */
function packed(fields) {
  const bytes = fields.flatMap(([value, size]) => Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) & 0xff));
  return Uint8Array.from(bytes);
}

/**
 * @param {Map<string, Uint8Array<ArrayBuffer>>} files by their names
 * @returns {Blob}
 */
export function zipOf(files) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const directory = [];
  let offset = 0;
  for (const [name, data] of files) {
    const text = new TextEncoder().encode(name);
    const size = /** @type {[number, number]} */ ([data.length, 4]);
    /** @type {[number, number][]} */
    const common = [[20, 2], [UTF8_NAMES, 2], [0, 2], [0, 2], [NO_DATE, 2], [crc32(data), 4], size, size, [text.length, 2], [0, 2]];
    const header = packed([[0x04034b50, 4], ...common]);
    parts.push(header, text, data);
    directory.push(packed([[0x02014b50, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), text);
    offset += header.length + text.length + data.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = packed([[0x06054b50, 4], [0, 2], [0, 2], [files.size, 2], [files.size, 2], [length, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
