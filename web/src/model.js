/** A trained model: the network that always listens, its card, its second stage, and the self-tests of both. */

import { CARD_KEY, ofStageOne, parseCard } from "./card.js";
import { ModelError } from "./errors.js";
import { CONFIG, Mfcc, samplesIn, selfTestSignal } from "./features.js";
import { limited } from "./files.js";
import { checkedMetadata } from "./protobuf.js";
import { inputShapes, openSession, runSession } from "./runtime.js";
import { HEAD_KEY, Head, SecondStage } from "./verifier.js";

/** @typedef {import("./card.js").Card} Card */
/** @typedef {import("./runtime.js").Ort} Ort */
/** @typedef {import("./runtime.js").Session} Session */
/** @typedef {import("./verifier.js").SharedNetworks} SharedNetworks */

/** Largest difference of a self-test's logit from the card's: processors and builds of ONNX Runtime differ by less. */
const SELF_TEST_TOLERANCE = 1e-3;
const DEFAULT_HOP = 16;
const MAX_WIDTH = 4_096;

/** The graph that scores frames. It advances many windows in progress, one per row, by the same frames. */
export class Network {
  /** @param {Ort} ort @param {Session} session @param {Card} card */
  constructor(ort, session, card) {
    this.card = card;
    this._ort = ort;
    this._session = session;
    const shapes = inputShapes(session);
    this._parts = [...shapes.keys()].filter((name) => name !== "frames" && name !== "picks");
    const outputs = ["logit", ...this._parts.map((name) => `${name}_next`)];
    const isKnown =
      ["frames", "picks", "h", "c"].every((name) => shapes.has(name)) &&
      [...session.outputNames].sort().join() === outputs.sort().join();
    this._widths = this._parts.map((name) => Number(shapes.get(name)?.[2]));
    const width = this._widths.reduce((sum, one) => sum + one, 0);
    if (!isKnown || !(width >= 1 && width <= MAX_WIDTH) || shapes.get("frames")?.[1] !== CONFIG.n_mfcc) {
      throw new ModelError(
        "expected a graph frames, picks, h, c, ... -> logit, h_next, c_next, ..., got " +
          `${[...shapes.keys()].join(", ")} -> ${session.outputNames.join(", ")}`,
      );
    }
  }

  /**
   * The parts of the state of `rows` windows before their first frame, each `(rows, width)`.
   * @param {number} rows
   * @param {number} [late] steps of the next call that they skip. During these everything stays zero except the sum of the
   * attention's importances: it grows by exp(0) = 1, so it begins below 0.
   */
  start(rows, late = 0) {
    return this._parts.map((name, i) => {
      const part = new Float32Array(rows * this._widths[i]);
      return name === "importance" && late ? part.fill(-late) : part;
    });
  }

  /**
   * The picks with which every row takes all frames, `(steps, rows, steps)`.
   * @param {number} steps
   * @param {number} rows
   */
  picks(steps, rows) {
    const picks = new Float32Array(steps * rows * steps);
    for (let step = 0; step < steps; step++) {
      for (let row = 0; row < rows; row++) picks[(step * rows + row) * steps + step] = 1;
    }
    return picks;
  }

  /**
   * Advance windows by the given frames: the logits if they ended here, `(rows,)`, and their next state.
   * @param {Float32Array} frames `(time, n_mfcc)`
   * @param {Float32Array[]} state
   * @param {number} rows
   * @param {Float32Array} [picks]
   */
  async advance(frames, state, rows, picks) {
    const { Tensor } = this._ort;
    const time = frames.length / CONFIG.n_mfcc;
    const steps = time / this.card.stack;
    /** @type {import("./runtime.js").Tensors} */
    const inputs = {
      frames: new Tensor("float32", frames, [time, CONFIG.n_mfcc]),
      picks: new Tensor("float32", picks ?? this.picks(steps, rows), [steps, rows, steps]),
    };
    this._parts.forEach((name, i) => {
      inputs[name] = new Tensor("float32", state[i], [1, rows, this._widths[i]]);
    });
    const outputs = await runSession(this._session, inputs);
    const next = this._parts.map((name) => /** @type {Float32Array} */ (outputs[`${name}_next`].data));
    return { logits: /** @type {Float32Array} */ (outputs.logit.data), state: next };
  }

  /** Free the session. */
  release() {
    return this._session.release();
  }

  /** The logits that the network gives for the self-test's signal: whole, and hop by hop as a detector does. */
  async selfTest() {
    const { window, stack } = this.card;
    const frames = new Mfcc().compute(selfTestSignal(samplesIn(window)));
    const hop = Math.max(1, Math.floor(Math.min(DEFAULT_HOP, window) / stack)) * stack;
    const found = [];
    for (const [rows, size] of [[1, window], [Math.ceil(window / hop), hop]]) {
      let [start, end] = [0, stack];
      /** @type {Float32Array[]} */
      let state = this.start(rows);
      /** @type {Float32Array} */
      let logits = new Float32Array(0);
      while (start < window) {
        const piece = frames.slice(start * CONFIG.n_mfcc, end * CONFIG.n_mfcc);
        ({ logits, state } = await this.advance(piece, state, rows));
        [start, end] = [end, Math.min(window, end + size)];
      }
      found.push(...logits);
    }
    return found;
  }
}

/** A model that was loaded and checked. Detectors may share it. */
export class Model {
  /** @param {Card} card @param {Network} network @param {SecondStage | null} secondStage */
  constructor(card, network, secondStage) {
    this.card = card;
    this.network = network;
    this.secondStage = secondStage;
  }

  /** Free its sessions; the networks that models share stay. */
  async release() {
    await this.network.release();
    await this.secondStage?.head.release();
  }

  /**
   * A model from the bytes of its file. Nothing is used before it has been checked: digest, card, graph, self-test.
   * @param {Ort} ort
   * @param {Uint8Array<ArrayBuffer>} data
   * @param {{ verify: boolean, shared: SharedNetworks }} options `verify`: whether to load the second stage, if there is one
   * @returns {Promise<Model>} rejects with `ModelError`
   */
  static async parse(ort, data, { verify, shared }) {
    const { entries, digest } = await checkedMetadata(limited(data, "the model file"));
    const whole = parseCard(entries.get(CARD_KEY), digest);
    const card = verify ? whole : ofStageOne(whole);
    const network = new Network(ort, await openSession(ort, data), card);
    requireEqual(await network.selfTest(), whole.self_test.logit, `self-test of '${card.phrase}'`);
    if (!card.verifier) return new Model(card, network, null);
    const { embedding_digest, phonemes_digest, phonemes, quick_digest, opinion_digest } = card.verifier;
    const [head, embedding, recogniser, quick, opinion] = await Promise.all([
      Head.ofText(ort, entries.get(HEAD_KEY)),
      shared.embedding(embedding_digest),
      phonemes.length && phonemes_digest ? shared.phonemes(phonemes_digest, card.training?.language) : null,
      phonemes.length && quick_digest ? shared.quick(quick_digest, card.training?.language) : null,
      phonemes.length && opinion_digest ? shared.phonemes(opinion_digest) : null,
    ]);
    const stage = new SecondStage(card.verifier, head, embedding, recogniser, quick, opinion);
    requireEqual([await stage.selfTest()], card.verifier.self_test, `self-test of the second stage of '${card.phrase}'`);
    return new Model(card, network, stage);
  }
}

/** @param {number[]} found @param {number} expected @param {string} what */
function requireEqual(found, expected, what) {
  if (!found.length || !found.every((logit) => Math.abs(logit - expected) <= SELF_TEST_TOLERANCE)) {
    throw new ModelError(
      `${what} failed: expected logit ${expected.toFixed(4)}, got ${found.map((logit) => logit.toFixed(4)).join(", ")}; ` +
        "the file is damaged or this machine computes wrongly",
    );
  }
}
