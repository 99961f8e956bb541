// What listening costs: node --expose-gc tests/web/measure.mjs KEYWORD[,KEYWORD...] AUDIO.wav, 16-bit mono at 16 kHz. Prints a line
// of JSON each ten minutes of audio and at the end: CPU seconds to load, CPU time of a second of audio, memory of the process.

import { createReadStream } from "node:fs";

import { Detector } from "../../web/src/index.js";

const root = new URL("../../", import.meta.url);
const [words, file] = process.argv.slice(2);

const cpu = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

let started = process.cpuUsage();
const models = words.split(",").map((word) => new URL(`assets/models/${word}.onnx`, root));
const runtime = new URL("web/node_modules/onnxruntime-web/dist/", root);
const detector = await Detector.load(models, { runtime });
const load = cpu(started);

started = process.cpuUsage();
let detections = 0;
let seconds = 0;
const report = () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const megabytes = Object.fromEntries(Object.entries({ rss, heapUsed, external }).map(([name, bytes]) => [name, Math.round(bytes / 1e6)]));
  console.log(JSON.stringify({ words, load, seconds, cpu_ms_a_second: (1e3 * cpu(started)) / seconds, detections, megabytes }));
};
// In blocks of 80 ms, after the header of 44 bytes; never the whole file, whose memory would hide that of the detector.
for await (const bytes of createReadStream(file, { start: 44, highWaterMark: 2_560 })) {
  const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length - (bytes.length % 2)));
  detections += (await detector.push(Float32Array.from(samples, (sample) => sample / 2 ** 15))).length;
  const before = Math.floor(seconds / 600);
  seconds += samples.length / 16_000;
  if (Math.floor(seconds / 600) > before) report();
}
detections += (await detector.flush()).length;
report();
