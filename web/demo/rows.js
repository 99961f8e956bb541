/** Lists of detections, each with what woke it to play back. */

import { writeWav } from "../src/index.js";
import { element } from "./page.js";

/** Rows of a list, each with its audio. */
export const MAX_ROWS = 50;

/** Players share one voice: a new one stops the one before. @type {HTMLAudioElement | null} */
let playing = null;

/**
 * Play samples.
 * @param {Float32Array} samples @param {number} sampleRate
 * @returns {Promise<void>} when they have ended, or were stopped
 */
export async function play(samples, sampleRate) {
  playing?.pause();
  const url = URL.createObjectURL(new Blob([writeWav(samples, sampleRate)], { type: "audio/wav" }));
  const player = new Audio(url);
  playing = player;
  try {
    const ended = new Promise((resolve) => {
      for (const event of ["ended", "pause", "error"]) player.addEventListener(event, resolve, { once: true });
    });
    await player.play();
    await ended;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {number} seconds */
export function clock(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds % 60).toFixed(2).padStart(5, "0")}`;
}

export class Rows {
  /**
   * @param {HTMLElement} list
   * @param {(playing: boolean) => void} [playsBack] called before and after a row is played
   * @param {boolean} [newestFirst]
   */
  constructor(list, playsBack = () => {}, newestFirst = true) {
    this._list = list;
    this._newestFirst = newestFirst;
    this._playsBack = playsBack;
  }

  clear() {
    this._list.replaceChildren();
  }

  /**
   * Add a detection.
   * @param {import("../src/index.js").Detection} detection
   * @param {string} time
   */
  add({ keyword, score, audio }, time) {
    const button = element("button", { type: "button", "aria-label": `Play ${keyword} at ${time}` }, "Play");
    button.addEventListener("click", async () => {
      this._playsBack(true);
      await play(audio, 16_000).catch(() => {});
      this._playsBack(false);
    });
    const number = element("span", { class: "number" }, `score ${score.toFixed(3)}`);
    const row = element("li", {}, element("time", {}, time), element("b", {}, keyword), number, button);
    if (this._newestFirst) this._list.prepend(row);
    else this._list.append(row);
    while (this._list.children.length > MAX_ROWS) {
      (this._newestFirst ? this._list.lastElementChild : this._list.firstElementChild)?.remove();
    }
  }
}
