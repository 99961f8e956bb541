/** The card inside a model file: what the model listens for, on which features, and how well. */

import { ConfigError, ModelError } from "./errors.js";
import { CONFIG } from "./features.js";

export const CARD_KEY = "wakeword.card";
const SCHEMA = 4;
const MAX_WINDOW = 1_000;
const MAX_LOGIT = 1e6;
/** The limits of Python: a file must not decide how much is computed or shown. */
const MAX_CARD = 2 ** 20;
const MAX_NAME = 200;
const MAX_POINTS = 100;
const MAX_PHONEMES = 64;
const MIN_THRESHOLD = 1e-9;
const MAX_COUNT = 1e9;
/** Frames. */
export const MAX_PHONEME_STEP = 32;
/** They are invisible, and Persian and several scripts of India need them. */
const JOINERS = /[\u200c\u200d]/g;
/** The lowest score of a window that the second stage has looked at; all others are below it. */
export const FLOOR = 1e-3;

/**
 * A measured rate, with the ends of its 95 % interval.
 * @typedef {{ value: number, low: number, high: number, count: number, trials: number }} Rate
 */

/**
 * A threshold, its target and what was measured at it.
 * @typedef {object} OperatingPoint
 * @property {string} name for instance `fa_per_hour=0.5`
 * @property {"fa_per_hour" | "fpr"} kind what `target` counts
 * @property {number} target
 * @property {number} threshold scores from it on count as the wake word, 0 to 1
 * @property {number} recall share of positives found
 * @property {number} recall_low
 * @property {number} recall_high
 * @property {string} data what it was measured on
 * @property {number} positives
 * @property {Rate | null} fpr_negatives
 * @property {Rate | null} fpr_near_negatives
 * @property {Rate | null} false_accepts_per_hour
 * @property {number | null} assurance probability that the target is kept
 */

/**
 * @typedef {{
 *   bias: number, stage_one: number, embedding: number, phonemes: number, phoneme_floor: number, phoneme_gate: number,
 * }} FusionWeights
 */

/**
 * The second stage.
 * @typedef {object} VerifierCard
 * @property {number} gate logit of the first stage from which on a window is looked at again
 * @property {number} span frames for which every window is looked at after one that reached the gate
 * @property {string} embedding_digest
 * @property {string | null} phonemes_digest
 * @property {string[][][]} phonemes the ways to say the word
 * @property {number[][][]} phoneme_losses what their tokens cost; none: nothing
 * @property {string[][][]} near other words that sound like the word: where one of them is said, the phonemes fit as badly as they can
 * @property {number[][][]} near_losses
 * @property {number} phoneme_step the phonemes are heard up to the last multiple of this number of frames; 0: to the window's end
 * @property {string | null} quick_digest
 * @property {string | null} opinion_digest of the recogniser that is asked for a second opinion
 * @property {number} quick_gate how well the quick recogniser must hear the word before the recogniser is asked
 * @property {FusionWeights} fusion
 * @property {number} self_test
 * @property {OperatingPoint[]} stage_one_points
 * @property {string | null} stage_one_default
 */

/**
 * @typedef {object} Card
 * @property {string} phrase
 * @property {string} version
 * @property {string} licence
 * @property {number} schema
 * @property {number} window frames in one window
 * @property {number} stack frames that the network takes at a time
 * @property {{ logit: number }} self_test
 * @property {Record<string, number>} features
 * @property {OperatingPoint[]} operating_points
 * @property {string | null} default_point
 * @property {VerifierCard | null} verifier
 * @property {Record<string, unknown>} training
 */

/**
 * A card from its JSON text. Throws `ModelError` for one of another schema, other features, or another form.
 * @param {string | undefined} text
 * @param {string | null} digest that of the file
 * @returns {Card}
 */
export function parseCard(text, digest) {
  if (text === undefined) {
    throw new ModelError("expected a model file from `wakeword train`, got an ONNX file without a wakeword card");
  }
  if (text.length > MAX_CARD) throw new ModelError(`expected a model card of at most ${MAX_CARD} bytes, got ${text.length}`);
  /** @type {Card} */
  let card;
  try {
    card = JSON.parse(text);
  } catch (error) {
    throw new ModelError(`the model card is malformed (${error})`, { cause: error });
  }
  if (card?.schema !== SCHEMA) {
    throw new ModelError(
      `expected a model card of schema ${SCHEMA}, got ${card?.schema}; update wakeword-web or train the model again`,
    );
  }
  if (digest === null) throw new ModelError("expected a digest in a model file, got none: the file is damaged");
  card = { ...card, stack: card.stack ?? 1, operating_points: card.operating_points ?? [] };
  card = { ...card, default_point: card.default_point ?? null, verifier: withDefaults(card.verifier) };
  const problem = problemOf(card);
  if (problem) throw new ModelError(`the model card is malformed (${problem})`);
  for (const [name, value] of Object.entries(CONFIG)) {
    if (card.features[name] !== value) {
      throw new ModelError(
        `expected features with ${name}=${value}, which this runtime computes, got ${card.features[name]}; train the model again`,
      );
    }
  }
  return card;
}

/** @param {VerifierCard | null | undefined} verifier */
function withDefaults(verifier) {
  if (typeof verifier !== "object" || !verifier) return verifier ?? null;
  const { phonemes_digest = null, phonemes = [], phoneme_losses = [], phoneme_step = 0 } = verifier;
  const { near = [], near_losses = [], opinion_digest = null } = verifier;
  const { stage_one_points = [], stage_one_default = null, quick_digest = null, quick_gate = 0 } = verifier;
  const phonemesOf = { phonemes_digest, phonemes, phoneme_losses, near, near_losses, phoneme_step, quick_digest, quick_gate };
  return { ...verifier, ...phonemesOf, opinion_digest, stage_one_points, stage_one_default };
}

/** @param {Card} card @returns {string | null} what is wrong with it */
function problemOf(card) {
  const { phrase, window, stack, self_test, features, verifier } = card;
  if (!isName(phrase) || !phrase.trim()) return "expected a phrase";
  if (!isWhole(window, 1, MAX_WINDOW) || !isWhole(stack, 1, window) || window % stack) {
    return `expected a window of 1 to ${MAX_WINDOW} frames, a multiple of stack=${stack}, got ${window}`;
  }
  if (!isFinite(self_test?.logit, MAX_LOGIT)) return "expected the logit of a self-test";
  if (typeof features !== "object" || !features) return "expected features";
  return problemOfPoints(card.operating_points) ?? (verifier ? problemOfVerifier(verifier) : null);
}

/** @param {unknown} points @returns {string | null} */
function problemOfPoints(points) {
  if (!Array.isArray(points) || points.length > MAX_POINTS) return `expected up to ${MAX_POINTS} operating points`;
  for (const point of points) {
    if (!isName(point?.name) || !isBetween(point.threshold, MIN_THRESHOLD, 1)) {
      return "expected operating points with a name and a threshold in 0..1";
    }
    const { recall, recall_low, recall_high, positives, fpr_negatives, fpr_near_negatives, false_accepts_per_hour } = point;
    const rates = [fpr_negatives, fpr_near_negatives, false_accepts_per_hour];
    const shares = [recall, recall_low, recall_high];
    if (!shares.every((share) => isBetween(share, 0, 1)) || !isBetween(positives ?? 0, 0, MAX_COUNT)) {
      return `expected a measured recall at '${point.name}'`;
    }
    if (!rates.every((rate) => isRate(rate ?? null))) return `expected measured rates at '${point.name}'`;
  }
  return new Set(points.map(({ name }) => name)).size === points.length ? null : "expected operating points of different names";
}

/** @param {Rate | null} rate */
function isRate(rate) {
  if (rate === null) return true;
  return [rate.value, rate.low, rate.high, rate.count, rate.trials].every((one) => isBetween(one, 0, MAX_COUNT));
}

/** @param {VerifierCard} verifier @returns {string | null} */
function problemOfVerifier(verifier) {
  const { gate, span, fusion, embedding_digest, phonemes_digest, phonemes, phoneme_losses, self_test, stage_one_points } = verifier;
  if (!isWhole(verifier.phoneme_step, 0, MAX_PHONEME_STEP)) return "expected a step of the phonemes";
  if (!isFinite(gate, 20) || !isWhole(span, 1, 200) || !isFinite(self_test, MAX_LOGIT)) return "expected a gate and a span";
  const weights = ["bias", "stage_one", "embedding", "phonemes", "phoneme_floor", "phoneme_gate"];
  if (!weights.every((name) => isFinite(fusion?.[/** @type {keyof FusionWeights} */ (name)], Number.MAX_VALUE))) {
    return "expected the weights of the fusion";
  }
  /** @param {unknown} list @param {(item: any) => boolean} isGood @param {number} least */
  const isList = (list, isGood, least = 1) =>
    Array.isArray(list) && list.length >= least && list.length <= MAX_PHONEMES && list.every(isGood);
  const isVariant = (/** @type {unknown} */ one) => isList(one, (tokens) => isList(tokens, isName));
  const { near, near_losses } = verifier;
  if (![phonemes, near].every((ways) => isList(ways, isVariant, 0))) return "expected phonemes";
  const isLoss = (/** @type {any} */ one) => isBetween(one, 0, MAX_LOGIT);
  const isCosted = (/** @type {string[][][]} */ ways, /** @type {number[][][]} */ losses) =>
    Array.isArray(losses) && (!losses.length || isSameShape(ways, losses, isLoss));
  if (!isCosted(phonemes, phoneme_losses) || !isCosted(near, near_losses)) return "expected a loss for each token of the phonemes";
  if (!isBetween(verifier.quick_gate, -MAX_LOGIT, 0)) return "expected a gate of the quick recogniser";
  const digests = phonemes.length ? [embedding_digest, phonemes_digest] : [embedding_digest];
  for (const digest of [verifier.quick_digest, verifier.opinion_digest]) if (digest !== null) digests.push(digest);
  if (!digests.every((digest) => /^[0-9a-f]{64}$/.test(digest ?? ""))) return "expected the digests of shared networks";
  return problemOfPoints(stage_one_points);
}

/**
 * Whether two nested lists have the same shape, and the second one good items.
 * @param {any} first
 * @param {any} second
 * @param {(item: any) => boolean} isGood
 * @returns {boolean}
 */
function isSameShape(first, second, isGood) {
  if (!Array.isArray(first)) return isGood(second);
  return Array.isArray(second) && first.length === second.length && first.every((one, i) => isSameShape(one, second[i], isGood));
}

/**
 * Whether it can be shown in one line: a line break, or a mark that turns the direction, could forge what is shown.
 * @param {unknown} text
 * @returns {text is string}
 */
function isName(text) {
  if (typeof text !== "string" || text.length > MAX_NAME) return false;
  // More than six combining marks on a letter would smear over the lines next to it.
  return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[\p{Mn}\p{Me}]{7}/u.test(text.replace(JOINERS, ""));
}

/** @param {unknown} value @param {number} low @param {number} high */
function isBetween(value, low, high) {
  return typeof value === "number" && value >= low && value <= high;
}

/** @param {unknown} value @param {number} low @param {number} high */
function isWhole(value, low, high) {
  return Number.isInteger(value) && /** @type {number} */ (value) >= low && /** @type {number} */ (value) <= high;
}

/** @param {unknown} value @param {number} most */
function isFinite(value, most) {
  return Number.isFinite(value) && Math.abs(/** @type {number} */ (value)) <= most;
}

/**
 * The card of a model that runs the first stage alone, at its own points.
 * @param {Card} card
 * @returns {Card}
 */
export function ofStageOne(card) {
  if (!card.verifier) return card;
  const { stage_one_points: operating_points, stage_one_default: default_point } = card.verifier;
  return { ...card, operating_points, default_point, verifier: null };
}

/**
 * The operating point of that name, or the default one. Throws `ConfigError` if there is none.
 * @param {Card} card
 * @param {string | null} [name]
 * @returns {OperatingPoint}
 */
export function pointOf(card, name) {
  const wanted = name ?? card.default_point;
  const found = card.operating_points.find((point) => point.name === wanted);
  if (found) return found;
  const known = card.operating_points.map((point) => point.name).join(", ") || "none; give a threshold";
  const what = wanted === null ? "default operating point" : `operating point '${wanted}'`;
  throw new ConfigError(`model '${card.phrase}' has no ${what}; it has: ${known}`);
}

/**
 * A threshold that the model can keep. Throws `ConfigError` for another one.
 * @param {Card} card
 * @param {unknown} threshold
 * @returns {number}
 */
export function checkedThreshold(card, threshold) {
  const least = card.verifier ? FLOOR : 0;
  if (typeof threshold !== "number" || !(threshold > 0 && threshold >= least && threshold <= 1)) {
    throw new ConfigError(`expected a threshold of ${least || "more than 0"} to 1 for '${card.phrase}', got ${threshold}`);
  }
  return threshold;
}
