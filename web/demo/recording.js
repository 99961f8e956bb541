/** Recording five takes of one's own word. */

import { refusal } from "./listening.js";
import { byId, element, say } from "./page.js";
import { play } from "./rows.js";
import { archive, examine, nameOf } from "./takes.js";

/** @typedef {import("./takes.js").Take} Take */

const WANTED = 5;
const SECONDS = 2;

export class Recording {
  /** @param {import("./listening.js").Listening} listening */
  constructor(listening) {
    this._listening = listening;
    /** @type {Take[]} */
    this._takes = [];
    this._source = "";
    this._button = /** @type {HTMLButtonElement} */ (byId("take"));
    this._word = /** @type {HTMLInputElement} */ (byId("take-word"));
    this._zip = /** @type {HTMLButtonElement} */ (byId("zip"));
    this._button.addEventListener("click", () => this._record());
    this._zip.addEventListener("click", () => this._download());
    this._word.addEventListener("input", () => this._show());
  }

  async _record() {
    this._button.disabled = true;
    try {
      const microphone = await this._listening.opened();
      this._source = microphone.label;
      say("take-status", `Say “${this._word.value}” now.`);
      const take = examine(await microphone.record(SECONDS), microphone.sampleRate);
      if (take.fault) say("take-status", `Not kept (${take.level.toFixed(0)} dB): ${take.fault}.`, true);
      else {
        this._takes.push(take);
        const left = WANTED - this._takes.length;
        const rest = left > 0 ? `${left} to go; vary the distance and the loudness` : "enough to download";
        say("take-status", `Take ${this._takes.length} is good (${take.level.toFixed(0)} dB); ${rest}.`);
      }
    } catch (error) {
      say("take-status", refusal(error), true);
    } finally {
      // A microphone to which nobody listens was opened for the take.
      if (!this._listening.isOn) await this._listening.stop();
      this._button.disabled = false;
      this._show();
    }
  }

  _show() {
    const rows = this._takes.map((take, i) => {
      const listen = element("button", { type: "button", "aria-label": `Play take ${i + 1}` }, "Play");
      listen.addEventListener("click", () => play(take.samples, take.sampleRate).catch(() => {}));
      const remove = element("button", { type: "button", "aria-label": `Remove take ${i + 1}` }, "Remove");
      remove.addEventListener("click", () => {
        this._takes.splice(i, 1);
        this._show();
        this._button.focus();
      });
      const level = element("span", { class: "number" }, `${take.level.toFixed(0)} dB`);
      return element("li", {}, element("b", {}, `Take ${i + 1}`), level, listen, remove);
    });
    byId("takes").replaceChildren(...rows);
    this._zip.disabled = this._takes.length < WANTED || !nameOf(this._word.value);
  }

  _download() {
    const keyword = this._word.value.trim();
    const name = nameOf(keyword);
    const url = URL.createObjectURL(archive(this._takes, keyword, this._source));
    element("a", { href: url, download: `${name}.zip` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    // What a shell would read as something else is left out.
    const plain = keyword.replace(/[^\p{L}\p{N}_]+/gu, " ").trim();
    const from = plain.includes(" ") ? `"${plain}"` : plain;
    say("take-status", `Unpack ${name}.zip, then: wakeword train --from ${from} --positives ${name}/ --background SPEECH/`);
  }
}
