/** The second stage: fused scores for the windows of one keyword in one stream. `docs/two-stages.md` describes it. */

import { FLOOR, MAX_PHONEME_STEP } from "./card.js";
import { DIMENSION, EmbeddingNetwork, EmbeddingStream, reach } from "./embedding.js";
import { ModelError } from "./errors.js";
import { CONFIG, SAMPLE_RATE, framesIn, selfTestSignal } from "./features.js";
import { fetchShared } from "./files.js";
import { amplified } from "./level.js";
import { HOPELESS, KeywordPhonemes, PhonemeNetwork } from "./phonemes.js";
import { QUICK_STEPS, QuickKeyword, QuickPhonemes } from "./quick-phonemes.js";
import { messageOf, openSession, runSession } from "./runtime.js";

/** @typedef {import("./card.js").VerifierCard} VerifierCard */
/** @typedef {import("./embedding.js").SamplesOf} SamplesOf */
/** @typedef {import("./runtime.js").Ort} Ort */
/** @typedef {import("./runtime.js").Session} Session */

export const HEAD_KEY = "wakeword.verifier";
const HEAD_EMBEDDINGS = 16;
/** Samples that the phoneme recogniser looks at. */
const PHONEME_SAMPLES = 2 * SAMPLE_RATE;
/** Looks that may follow one in which the recogniser found anything of a word. */
const AGAIN = 2;
/** Samples before the end of a window that its verification depends on. */
export const LOOK_SAMPLES = Math.max(
  reach(HEAD_EMBEDDINGS),
  Math.max(PHONEME_SAMPLES, reach(QUICK_STEPS)) + (1 + AGAIN) * MAX_PHONEME_STEP * CONFIG.hop_length,
);
/** Windows whose phonemes are kept for other keywords: as many as one push can hold. */
const KEPT_WINDOWS = 16;

/** The logistic function. Thresholds for rare false accepts are close to 1. @param {number} logit */
export function scoreOfLogit(logit) {
  return 0.5 + 0.5 * Math.tanh(0.5 * logit);
}

/** The part of the second stage that belongs to one word: `embeddings (16, 96) -> logit (1,)`. */
export class Head {
  /** @param {Ort} ort @param {Session} session */
  constructor(ort, session) {
    this._ort = ort;
    this._session = session;
    if (session.inputNames.join() !== "embeddings" || session.outputNames.join() !== "logit") {
      throw new ModelError(
        `expected a head of the second stage embeddings -> logit, got ${session.inputNames} -> ${session.outputNames}`,
      );
    }
  }

  /** From a model's metadata. @param {Ort} ort @param {string | undefined} text base64 */
  static async ofText(ort, text) {
    if (text === undefined) {
      throw new ModelError("expected the head of the second stage that the card describes, got a file without it");
    }
    try {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      return new Head(ort, await openSession(ort, bytes));
    } catch (error) {
      throw new ModelError(`the head of the second stage is damaged (${messageOf(error)})`, { cause: error });
    }
  }

  /** Free the session. */
  release() {
    return this._session.release();
  }

  /** @param {Float32Array} embeddings `(16, 96)`, oldest first */
  async logit(embeddings) {
    const input = new this._ort.Tensor("float32", embeddings, [HEAD_EMBEDDINGS, DIMENSION]);
    const { logit } = await runSession(this._session, { embeddings: input });
    return Number(logit.data[0]);
  }
}

/** The networks that models share, each loaded once. */
export class SharedNetworks {
  /** @param {Ort} ort @param {string} folder URL of the folder of `embedding.onnx` and `phonemes.onnx` */
  constructor(ort, folder) {
    this._ort = ort;
    this._folder = folder.endsWith("/") ? folder : `${folder}/`;
    /** @type {Map<string, Promise<any>>} */
    this._loaded = new Map();
  }

  /** @param {string} digest @returns {Promise<EmbeddingNetwork>} */
  embedding(digest) {
    return this._load(digest, "embedding.onnx", EmbeddingNetwork);
  }

  /** @param {string} digest @param {unknown} language of the word @returns {Promise<PhonemeNetwork>} */
  phonemes(digest, language = "en") {
    // Those of wakeword_ear and wakeword_languages are served beside it by other names.
    return this._load(digest, "phonemes.onnx", PhonemeNetwork, language === "en" ? "ear.onnx" : "languages.onnx");
  }

  /** @param {string} digest @param {unknown} language of the word @returns {Promise<QuickPhonemes>} */
  quick(digest, language = "en") {
    return this._load(digest, "quick.onnx", QuickPhonemes, language === "en" ? null : "languages-quick.onnx");
  }

  /**
   * @template T
   * @param {string} digest
   * @param {string} name
   * @param {{ open: (ort: Ort, data: Uint8Array<ArrayBuffer>) => Promise<T> }} kind
   * @param {string | null} other
   * @returns {Promise<T>}
   */
  _load(digest, name, kind, other = null) {
    const known = this._loaded.get(digest);
    if (known) return known;
    const elsewhere = other && this._folder + other;
    const loading = fetchShared(this._folder + name, digest, elsewhere).then((data) => kind.open(this._ort, data));
    this._loaded.set(digest, loading);
    // A network that could not be fetched is asked for again the next time.
    loading.catch(() => this._loaded.delete(digest));
    return loading;
  }
}

/** The networks of one model's second stage. Streams may share it. */
export class SecondStage {
  /**
   * @param {VerifierCard} card
   * @param {Head} head
   * @param {EmbeddingNetwork} embedding
   * @param {PhonemeNetwork | null} recogniser
   * @param {QuickPhonemes | null} quick
   * @param {PhonemeNetwork | null} [opinion] the recogniser that is asked for a second opinion
   */
  constructor(card, head, embedding, recogniser, quick, opinion = null) {
    this.card = card;
    this.head = head;
    this.embedding = embedding;
    this.recogniser = recogniser;
    this.opinion = opinion;
    this.quick = quick && new QuickKeyword(quick, card.phonemes, card.phoneme_losses);
    const tokens = recogniser?.tokens ?? [];
    const near = recogniser && card.near.length ? new KeywordPhonemes(card.near, tokens, card.near_losses) : null;
    this.keyword = recogniser && new KeywordPhonemes(card.phonemes, tokens, card.phoneme_losses, near);
  }

  /** The head's logit for two seconds of the self-test's signal. */
  async selfTest() {
    const samples = selfTestSignal(PHONEME_SAMPLES);
    const last = framesIn(samples.length) - 1;
    /** @type {SamplesOf} */
    const samplesOf = (start, end) =>
      Float32Array.from({ length: end - start }, (_, i) => samples[start + i] ?? 0);
    return this.head.logit(await new EmbeddingStream(this.embedding).newest(last, HEAD_EMBEDDINGS, samplesOf));
  }
}

/** The sound of one stream at each gain at which a window was heard. */
export class StreamSound {
  /** @param {SamplesOf} samplesOf */
  constructor(samplesOf) {
    this._samplesOf = samplesOf;
    /** @type {Map<number, AmplifiedSound>} */
    this._amplified = new Map();
  }

  /** Begin a new stream. */
  reset() {
    for (const sound of this._amplified.values()) sound.reset();
  }

  /** The sound at this gain. @param {number} gain */
  at(gain) {
    let sound = this._amplified.get(gain);
    if (!sound) this._amplified.set(gain, (sound = new AmplifiedSound(this._samplesOf, gain)));
    return sound;
  }
}

/** What verifiers look at in one stream at one gain: its audio, and what the shared networks make of it, once for all keywords. */
export class AmplifiedSound {
  /** @param {SamplesOf} samplesOf @param {number} gain */
  constructor(samplesOf, gain) {
    // Before a quiet window there may be louder sound.
    /** @type {SamplesOf} */
    this._samplesOf = (start, end) => {
      const samples = amplified(samplesOf(start, end), gain);
      return gain === 1 ? samples : samples.map((sample) => Math.min(1, Math.max(-1, sample)));
    };
    /** @type {Map<import("./embedding.js").EmbeddingNetwork, EmbeddingStream>} */
    this._embeddings = new Map();
    /** What each recogniser hears. @type {Map<PhonemeNetwork, Map<number, Float32Array>>} */
    this._phonemes = new Map();
    /** How well each word fits, by where it was heard. @type {Map<KeywordPhonemes | QuickKeyword, Map<number, number>>} */
    this._fits = new Map();
  }

  /** Begin a new stream. */
  reset() {
    for (const stream of this._embeddings.values()) stream.reset();
    this._phonemes.clear();
    this._fits.clear();
  }

  /** @param {import("./embedding.js").EmbeddingNetwork} network @param {number} frame */
  embeddings(network, frame, count = HEAD_EMBEDDINGS) {
    let stream = this._embeddings.get(network);
    if (!stream) this._embeddings.set(network, (stream = new EmbeddingStream(network)));
    return stream.newest(frame, count, this._samplesOf);
  }

  /** How well the quick recogniser hears a word up to a sample. @param {QuickKeyword} quick @param {number} end */
  quickFit(quick, end) {
    return this._fit(quick, end, async () =>
      quick.fit(await this.embeddings(quick.recogniser.network, frameAt(end), QUICK_STEPS)),
    );
  }

  /**
   * How well a word's phonemes fit in the sound up to a sample.
   * @param {KeywordPhonemes} keyword
   * @param {PhonemeNetwork} network
   * @param {PhonemeNetwork | null} opinion
   * @param {number} end
   */
  fit(keyword, network, opinion, end) {
    return this._fit(keyword, end, async () => {
      const fit = keyword.score(await this.phonemes(network, end));
      return opinion && fit > HOPELESS ? keyword.withOpinion(fit, await this.phonemes(opinion, end)) : fit;
    });
  }

  /** @param {KeywordPhonemes | QuickKeyword} word @param {number} end @param {() => Promise<number>} find */
  async _fit(word, end, find) {
    const fits = this._fits.get(word) ?? new Map();
    this._fits.set(word, fits);
    if (!fits.has(end)) fits.set(end, await find());
    forget(fits);
    return fits.get(end);
  }

  /** @param {PhonemeNetwork} network @param {number} end the sample at which the window ends */
  async phonemes(network, end) {
    const known = this._phonemes.get(network) ?? new Map();
    this._phonemes.set(network, known);
    if (!known.has(end)) known.set(end, await network.logProbabilities(this._samplesOf(end - PHONEME_SAMPLES, end)));
    forget(known);
    return known.get(end);
  }
}

/**
 * Turns the first stage's logits, window by window, into fused scores. A window is a *candidate* if the first stage reached
 * the gate in it or in one of the windows before it that the card's span covers.
 */
export class Verifier {
  /** @type {number[]} */
  _recent = [];
  /** The first stage's highest logit in the newest windows that the span covers. */
  best = -Infinity;
  /** Windows that were candidates. */
  candidates = 0;

  /** @param {SecondStage} stage @param {number} hop frames between the ends of two windows */
  constructor(stage, hop) {
    this._stage = stage;
    this._kept = Math.ceil(stage.card.span / hop);
  }

  /** Begin a new stream. */
  reset() {
    this._recent = [];
    this.best = -Infinity;
    this.candidates = 0;
  }

  /**
   * The score of the next window, 0 to 1: below `FLOOR` if it is no candidate.
   * @param {number} logit
   * @param {number} windowEnd the sample before which the window ends
   * @param {AmplifiedSound} sound
   * @returns {Promise<number>}
   */
  async score(logit, windowEnd, sound) {
    this._recent.push(logit);
    if (this._recent.length > this._kept) this._recent.shift();
    this.best = Math.max(...this._recent);
    const { card, head, embedding, recogniser, opinion, keyword } = this._stage;
    // Not "best < gate": a NaN must not pass.
    if (!(this.best >= card.gate)) return unverifiedScore(logit, card.gate);
    this.candidates += 1;
    const { bias, stage_one, embedding: weight, phonemes, phoneme_floor, phoneme_gate } = card.fusion;
    const ofHead = weight ? weight * (await head.logit(await sound.embeddings(embedding, frameAt(windowEnd)))) : 0;
    const upper = bias + stage_one * this.best + ofHead;
    let fit = -phoneme_floor;
    if (upper >= phoneme_gate && recogniser && keyword) {
      const step = card.phoneme_step * CONFIG.hop_length;
      const heardUntil = step ? windowEnd - (windowEnd % step) : windowEnd;
      if (await this._isAsked(keyword, recogniser, heardUntil, step, sound)) {
        fit = Math.min(0, Math.max(-phoneme_floor, await sound.fit(keyword, recogniser, opinion, heardUntil)));
      }
    }
    return Math.max(FLOOR, scoreOfLogit(upper + phonemes * fit));
  }

  /**
   * Whether the recogniser is asked: where the quick one hears the word, and `AGAIN` times more if it found anything there.
   * @param {KeywordPhonemes} keyword
   * @param {PhonemeNetwork} recogniser
   * @param {number} end
   * @param {number} step samples from one look to the next
   * @param {AmplifiedSound} sound
   */
  async _isAsked(keyword, recogniser, end, step, sound) {
    const { card, quick, opinion } = this._stage;
    if (!quick) return true;
    const heard = [];
    // The oldest first, as the quick recogniser goes on from there.
    for (let at = step ? end - AGAIN * step : end; at <= end; at += step || 1) {
      if (at > 0 && (await sound.quickFit(quick, at)) >= card.quick_gate) heard.push(at);
    }
    if (heard.at(-1) === end) return true;
    for (const at of heard) {
      if ((await sound.fit(keyword, recogniser, opinion, at)) > -card.fusion.phoneme_floor) return true;
    }
    return false;
  }
}

/** Keep what was found for the newest windows alone. @param {Map<number, unknown>} windows */
function forget(windows) {
  for (const old of windows.keys()) {
    if (windows.size <= KEPT_WINDOWS) break;
    windows.delete(old);
  }
}

/** Number of the newest MFCC frame before a sample. @param {number} end */
function frameAt(end) {
  return Math.floor((end - CONFIG.n_fft) / CONFIG.hop_length);
}

/**
 * The score of a window that is not verified: rises with its logit, which is below the gate.
 * @param {number} logit
 * @param {number} gate
 */
function unverifiedScore(logit, gate) {
  return Math.min((FLOOR * scoreOfLogit(logit)) / scoreOfLogit(gate), FLOOR * (1 - Number.EPSILON / 2));
}
