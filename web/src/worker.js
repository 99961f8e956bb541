/**
 * The thread in which detectors of a page work: a busy page cannot stall it.
 *
 * Requests `{ id, detector, call, args }` are answered with `{ id, result }` or `{ id, error }`. Besides, a detector reports
 * `{ detector, heard }`, `{ detector, lost }` (seconds of audio that were dropped) and `{ detector, failure }`.
 */

import { Engine } from "./engine.js";
import { ClosedError, packed } from "./errors.js";

/** @typedef {import("./stream.js").Heard} Heard */

/** Seconds of audio from a microphone that may wait. Beyond it this machine is too slow, and detections would come late. */
const MAX_BACKLOG = 10;

/** @type {Map<number, Engine>} */
const engines = new Map();
/** @type {Map<number, MessagePort>} */
const taps = new Map();

/** @param {unknown} message @param {Transferable[]} [transfer] */
const post = (message, transfer = []) => self.postMessage(message, { transfer });

/** @param {number} detector */
const reportOf = (detector) => (/** @type {Heard} */ heard) => post({ detector, heard });

/** @param {number} detector @returns {Engine} */
function engineOf(detector) {
  const engine = engines.get(detector);
  if (!engine) throw new ClosedError("expected an open detector, got one that was closed; load a new one");
  return engine;
}

/** @type {Record<string, (detector: number, ...args: any[]) => unknown>} */
const CALLS = {
  async load(detector, sources, options) {
    const engine = await Engine.load(sources, options);
    engines.set(detector, engine);
    return engine.words;
  },
  push: (detector, block, rate) => engineOf(detector).push(block, rate, reportOf(detector)),
  flush: (detector) => engineOf(detector).flush(reportOf(detector)),
  reset: (detector) => engineOf(detector).reset(),
  suppress: (detector, wanted) => engineOf(detector).suppress(wanted),
  setThreshold: (detector, keyword, threshold) => engineOf(detector).setThreshold(keyword, threshold),
  tap(detector, port, rate) {
    const engine = engineOf(detector);
    taps.get(detector)?.close();
    taps.set(detector, port);
    listen(detector, engine, port, rate);
    return engine.reset();
  },
  untap(detector) {
    taps.get(detector)?.close();
    taps.delete(detector);
  },
  close(detector) {
    CALLS.untap(detector);
    const engine = engines.get(detector);
    engines.delete(detector);
    return engine?.close();
  },
};

/**
 * Take the blocks that a worklet sends.
 * @param {number} detector
 * @param {Engine} engine
 * @param {MessagePort} port
 * @param {number} rate
 */
function listen(detector, engine, port, rate) {
  let waiting = 0;
  port.onmessage = async ({ data }) => {
    if (waiting > MAX_BACKLOG * rate) {
      post({ detector, lost: data.length / rate });
      return;
    }
    waiting += data.length;
    try {
      await engine.push(data, rate, reportOf(detector));
    } catch (error) {
      post({ detector, failure: packed(error) });
    } finally {
      waiting -= data.length;
    }
  };
}

self.onmessage = async ({ data: { id, detector, call, args } }) => {
  try {
    post({ id, result: await CALLS[call](detector, ...args) });
  } catch (error) {
    post({ id, error: packed(error) });
  }
};
