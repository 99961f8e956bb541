/** A word's score with its threshold, and the choice of that, which visitors read as a sensitivity: the lower, the more. */

import { promiseOf, settingOf } from "./promise.js";
import { element } from "./page.js";

/** @typedef {import("../src/engine.js").Word} Word */

/** The scale is that of logits, as scores crowd at both ends: from 0.001, the lowest threshold of two stages, to 0.999. */
const RANGE = Math.log(999);
const FALL = 0.8;
const OWN = "own";

/** @param {number} score @returns {number} 0 to 1 */
function placeOf(score) {
  const logit = Math.log(score / (1 - score));
  return Math.min(1, Math.max(0, (logit + RANGE) / (2 * RANGE)));
}

/** @param {number} logit */
const scoreOf = (logit) => 1 / (1 + Math.exp(-logit));

export class Meter {
  /** @param {Word} word @param {(threshold: number) => void} choose */
  constructor({ keyword, threshold, card }, choose) {
    this._card = card;
    this._choose = choose;
    this._threshold = threshold;
    this._shown = 0;
    this._number = element("span", { "aria-hidden": "true" });
    this._level = element("div", { class: "level" });
    this._line = element("div", { class: "threshold" });
    this._bar = element(
      "div",
      { class: "meter", role: "meter", "aria-label": `Score of ${keyword}`, "aria-valuemin": "0", "aria-valuemax": "1" },
      this._level,
      this._line,
    );
    const limits = { min: String(-RANGE), max: String(RANGE), step: "any" };
    this._slider = element("input", { type: "range", ...limits, "aria-label": `Sensitivity to ${keyword}` });
    this._points = element("select", { "aria-label": `Measured sensitivities to ${keyword}` });
    for (const point of card.operating_points) {
      this._points.append(element("option", { value: point.name }, settingOf(point)));
    }
    this._points.append(element("option", { value: OWN }, "your own choice"));
    this._promise = element("p", { class: "promise" });
    this._output = element("output", {});
    this.element = element(
      "div",
      { class: "word" },
      element("h3", {}, keyword, this._number),
      this._bar,
      this._slider,
      element("div", { class: "settings" }, this._points, this._output),
      this._promise,
    );
    this._slider.addEventListener("input", () => this._set(scoreOf(-Number(this._slider.value)), true));
    this._slider.addEventListener("keydown", (event) => this._step(event));
    this._points.addEventListener("change", () => {
      const point = card.operating_points.find((one) => one.name === this._points.value);
      if (point) this._set(point.threshold, true);
    });
    this._set(threshold, false);
    this.show(0);
  }

  /** Show a score. @param {number} score */
  show(score) {
    // A word raises its score for a few windows only: the bar falls slowly, so that it can be seen.
    this._shown = Math.max(placeOf(score), FALL * this._shown);
    this._level.style.transform = `scaleX(${this._shown})`;
    this._bar.classList.toggle("fired", score >= this._threshold);
    this._bar.setAttribute("aria-valuenow", score.toFixed(3));
    this._number.textContent = score.toFixed(3);
  }

  /** Of an "any" step the arrow keys make something else in each browser. @param {KeyboardEvent} event */
  _step(event) {
    const step = { ArrowRight: 0.1, ArrowUp: 0.1, ArrowLeft: -0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const sensitivity = Math.min(RANGE, Math.max(-RANGE, Number(this._slider.value) + step));
    this._set(scoreOf(-sensitivity), true);
  }

  /** @param {number} threshold @param {boolean} tells */
  _set(threshold, tells) {
    this._threshold = threshold;
    const place = placeOf(threshold);
    this._line.style.left = `${100 * place}%`;
    this._slider.value = String((1 - 2 * place) * RANGE);
    const text = `${Math.round(100 * (1 - place))} %`;
    this._slider.setAttribute("aria-valuetext", text);
    this._output.textContent = `sensitivity ${text}`;
    // For those who go on with the command line.
    this._output.title = `--threshold ${threshold.toFixed(4)}`;
    const point = this._card.operating_points.find((one) => one.threshold === threshold);
    this._points.value = point ? this._keptName(point.name) : OWN;
    this._promise.textContent = promiseOf(this._card.operating_points, threshold);
    if (tells) this._choose(threshold);
  }

  /** Of several points with one threshold, the one that was chosen. @param {string} name */
  _keptName(name) {
    const chosen = this._card.operating_points.find((one) => one.name === this._points.value);
    return chosen?.threshold === this._threshold ? chosen.name : name;
  }
}
