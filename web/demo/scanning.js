/** Finds the words in a recording, beside what listens. */

import { Detector, FileSource } from "../src/index.js";
import { SHARED } from "./listening.js";
import { byId, say, told } from "./page.js";
import { MAX_ROWS, Rows, clock } from "./rows.js";

export class Scanning {
  /** @param {() => { models: (string | File)[], verify: boolean, thresholds: Record<string, number> }} chosen */
  constructor(chosen) {
    this._chosen = chosen;
    this._rows = new Rows(byId("found"), undefined, false);
    this._scans = 0;
  }

  /** @param {Blob | URL} file @param {string} name */
  async scan(file, name) {
    const scan = ++this._scans;
    const { models, verify, thresholds } = this._chosen();
    const progress = /** @type {HTMLProgressElement} */ (byId("scan-progress"));
    this._rows.clear();
    if (!models.length) return say("scan-status", "Choose a word first.", true);
    say("scan-status", `Reading ${name}…`);
    let detector;
    try {
      const source = await FileSource.open(file);
      detector = await Detector.load(models, { ...SHARED, verify, threshold: thresholds });
      say("scan-status", `Scanning ${name}…`);
      progress.value = 0;
      progress.hidden = false;
      detector.addEventListener("heard", (event) => {
        progress.value = Math.min(1, /** @type {CustomEvent} */ (event).detail.seconds / source.seconds);
      });
      let count = 0;
      for await (const detection of detector.run(source)) {
        if (scan !== this._scans) return;
        this._rows.add(detection, clock(detection.end));
        count += 1;
      }
      const found = count === 1 ? "1 detection" : `${count || "no"} detections`;
      const listed = count > MAX_ROWS ? `, the last ${MAX_ROWS} of which are listed` : "";
      say("scan-status", `${name}, ${clock(source.seconds)}: ${found}${listed}.`);
    } catch (error) {
      if (scan === this._scans) say("scan-status", `${name}: ${told(error)}`, true);
    } finally {
      await detector?.close();
      if (scan === this._scans) progress.hidden = true;
    }
  }
}
