/** What was measured at a threshold, from the operating points of a model's card. */

/** @typedef {import("../src/index.js").OperatingPoint} Point */

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`;

/** @param {Point} point */
function recallOf(point) {
  const clips = point.positives ? ` of ${point.positives} recordings` : "";
  return `finds ${percent(point.recall)}${clips} (95 %: ${percent(point.recall_low)} to ${percent(point.recall_high)})`;
}

/** @param {Point} point */
function falseAcceptsOf({ false_accepts_per_hour: rate }) {
  if (!rate) return "was not measured on long speech";
  const times = rate.count === 1 ? "once" : `${rate.count} times`;
  const range = `${rate.low.toFixed(2)} to ${rate.high.toFixed(2)} an hour`;
  return `fired ${times} in ${rate.trials.toFixed(1)} h of other speech, so ${range}`;
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
  if (laxer && stricter && laxer.threshold === stricter.threshold) {
    return `${laxer.name}: ${recallOf(laxer)}; ${falseAcceptsOf(laxer)}.`;
  }
  if (!laxer) return `Laxer than all that was measured. ${stricter.name}, stricter, ${falseAcceptsOf(stricter)}: expect more.`;
  if (!stricter) return `Stricter than all that was measured. ${laxer.name}, laxer, ${recallOf(laxer)}: expect less.`;
  const recall = `finds ${percent(stricter.recall)} to ${percent(laxer.recall)}`;
  const [few, many] = [stricter, laxer].map((point) => point.false_accepts_per_hour);
  const fires = few && many ? `; fired ${few.count} to ${many.count} times in ${many.trials.toFixed(1)} h of other speech` : "";
  return `Between ${stricter.name} and ${laxer.name}: ${recall}${fires}.`;
}
