// Runs the browser's library in Node: reads a list of jobs (JSON) from standard input, writes a list of results.
//
// A job names what to do and its arguments; audio is a file of raw float32. A job that fails gives {error: {name, message}}.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { Detector, FileSource } from "../../web/src/index.js";
import { parseCard } from "../../web/src/card.js";
import { Mfcc, selfTestSignal } from "../../web/src/features.js";
import { KeywordPhonemes } from "../../web/src/phonemes.js";
import { Resampler } from "../../web/src/resampler.js";
import { writeWav } from "../../web/src/wav.js";

const runtime = new URL("../../web/node_modules/onnxruntime-web/dist/", import.meta.url);

async function floats(path) {
  const { buffer, byteOffset, byteLength } = await readFile(path);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

function* blocks(samples, sizes) {
  for (let start = 0, turn = 0; start < samples.length; turn++) {
    const size = sizes[turn % sizes.length];
    yield samples.subarray(start, start + size);
    start += size;
  }
}

const load = (models, options) => Detector.load(models.map((path) => pathToFileURL(path)), { runtime, ...options });

const plain = (detections) => detections.map(({ audio, ...rest }) => ({ ...rest, samples: audio.length, last: audio.at(-1) }));

const TASKS = {
  async load({ models, options }) {
    const detector = await load(models, options);
    return detector.words.map(({ keyword, threshold, card }) => ({ keyword, threshold, card }));
  },

  async detect({ models, options, audio, rate, sizes }) {
    const detector = await load(models, options);
    const scores = Object.fromEntries(detector.keywords.map((keyword) => [keyword, []]));
    let asleep = 0;
    detector.addEventListener("heard", ({ detail }) => {
      for (const one of detail.scores) scores[one.keyword].push(one.score);
      asleep += detail.asleep;
    });
    const samples = await floats(audio);
    const detections = [];
    for (const block of blocks(samples, sizes)) detections.push(...(await detector.push(block, rate)));
    detections.push(...(await detector.flush()));
    return { scores, asleep, detections: plain(detections) };
  },

  async push({ models, values, rate }) {
    const detector = await load(models, {});
    return detector.push(values === null ? null : Float32Array.from(values, Number), rate);
  },

  async suppress({ models, audio }) {
    const detector = await load(models, {});
    const samples = await floats(audio);
    await detector.suppress(true);
    const meanwhile = await detector.push(samples);
    await detector.suppress(false);
    const overlapping = await detector.push(samples.subarray(0, 1));
    await detector.reset();
    return { meanwhile: meanwhile.length, overlapping: overlapping.length, after: (await detector.push(samples)).length };
  },

  async close({ models }) {
    const detector = await load(models, {});
    await detector.close();
    return detector.push(new Float32Array(16_000));
  },

  card: ({ text }) => parseCard(text, "0".repeat(64)).phrase,

  // A worker whose script is not there: it answers nothing, and the browser reports an error.
  async worker({ models }) {
    let ended = 0;
    globalThis.Worker = class {
      constructor() {
        setTimeout(() => this.onerror({ message: "" }));
      }
      postMessage() {}
      terminate() {
        ended += 1;
      }
    };
    const tries = [];
    for (let count = 0; count < 2; count++) tries.push(await load(models, { worker: true }).catch((error) => String(error)));
    return { tries, ended };
  },

  mfcc: async ({ audio }) => [...new Mfcc().compute(await floats(audio))],

  signal: ({ samples }) => [...selfTestSignal(samples)],

  async resample({ audio, rate, sizes }) {
    const resampler = new Resampler(rate);
    const found = [];
    for (const block of blocks(await floats(audio), sizes)) found.push(...resampler.push(block));
    return [...found, ...resampler.flush()];
  },

  async phonemes({ variants, tokens, audio }) {
    return new KeywordPhonemes(variants, tokens).score(await floats(audio));
  },

  async wav({ file }) {
    const source = await FileSource.open((await readFile(file)).buffer);
    const samples = [...source.blocks()].flatMap((block) => [...block]);
    const again = await FileSource.open(writeWav(source.samples, source.sampleRate).buffer);
    return { rate: source.sampleRate, samples, again: [...again.samples] };
  },
};

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const results = [];
for (const { task, ...job } of JSON.parse(Buffer.concat(chunks).toString())) {
  try {
    results.push({ result: await TASKS[task](job) });
  } catch (error) {
    results.push({ error: { name: error.name, message: error.message } });
  }
}
// JSON has no infinity.
process.stdout.write(JSON.stringify(results, (_, value) => (Number.isFinite(value) || typeof value !== "number" ? value : String(value))));
