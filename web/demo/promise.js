/** What was measured at a threshold, from the operating points of a model's card, in words for visitors. */

/** @typedef {import("../src/index.js").OperatingPoint} Point */

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`;

/** What a point promises, as its name for visitors. @param {Point} point @returns {string} */
export function settingOf({ kind, target }) {
  if (kind === "fpr") return `at most ${Number((100 * target).toPrecision(3))} % of other words wake it`;
  if (target === 1) return "at most one mistake an hour";
  if (target > 1) return `at most ${target} mistakes an hour`;
  return `at most one mistake in ${Number((1 / target).toPrecision(3))} hours`;
}

/** @param {Point} point */
function foundAt(point) {
  const range = `${percent(point.recall_low)} to ${percent(point.recall_high)}`;
  if (!point.positives) return `finds ${percent(point.recall)} of recordings (so ${range} in general)`;
  return `finds ${Math.round(point.recall * point.positives)} of ${point.positives} recordings (so ${range} in general)`;
}

/** @param {Point} point */
function mistakesAt({ false_accepts_per_hour: rate }) {
  if (!rate) return "was not tried on long speech";
  const times = rate.count === 0 ? "never" : rate.count === 1 ? "once" : `${rate.count} times`;
  const range = `${rate.low.toFixed(2)} to ${rate.high.toFixed(2)} times an hour`;
  return `woke ${times} by mistake in ${rate.trials.toFixed(1)} hours of other speech (so ${range} in general)`;
}

/**
 * What a threshold promises: at a measured point what was measured there, between two points what both say.
 * @param {readonly Point[]} points
 * @param {number} threshold
 * @returns {string}
 */
export function promiseOf(points, threshold) {
  const laxer = points.filter((point) => point.threshold <= threshold).sort((a, b) => b.threshold - a.threshold)[0];
  const stricter = points.filter((point) => point.threshold >= threshold).sort((a, b) => a.threshold - b.threshold)[0];
  if (!laxer && !stricter) return "Nothing was measured for this model.";
  if (laxer && stricter && laxer.threshold === stricter.threshold) return `It ${foundAt(laxer)}, and ${mistakesAt(laxer)}.`;
  if (!laxer) return `More sensitive than all that was measured. A little less so, it ${mistakesAt(stricter)}: expect more.`;
  if (!stricter) return `Less sensitive than all that was measured. A little more so, it ${foundAt(laxer)}: expect less.`;
  const found = `finds ${percent(stricter.recall)} to ${percent(laxer.recall)} of recordings`;
  const [few, many] = [stricter, laxer].map((point) => point.false_accepts_per_hour);
  const woke =
    few && many ? `, and woke ${few.count} to ${many.count} times by mistake in ${many.trials.toFixed(1)} hours of other speech` : "";
  return `Between two settings that were measured: it ${found}${woke}.`;
}
