// Drives the page in Chromium: reads a job {url, scenario, chromium, microphone, rate, files, shots} from standard input, writes
// what was seen. `microphone` is a WAV file that the browser takes for its microphone, which with `rate` it does not resample;
// `shots` is a folder for pictures.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

// From the package's own node_modules, which this folder has none of.
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const PATIENCE = 120_000;

async function opened(job, { permissions = ["microphone"], context: options = {}, args = [] } = {}) {
  const flags = [
    "--no-sandbox",
    "--autoplay-policy=document-user-activation-required",
    ...(job.microphone ? ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${job.microphone}%noloop`] : []),
    ...args,
  ];
  const browser = await chromium.launch({ executablePath: job.chromium, args: flags });
  const context = await browser.newContext({ permissions, viewport: { width: 740, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const seen = { requests: [], problems: [] };
  context.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") seen.problems.push(message.text());
  });
  // So that a test can do to contexts and tracks what browsers do to them.
  await page.addInitScript((ownRate) => {
    window.contexts = [];
    window.tracks = [];
    window.AudioContext = class extends AudioContext {
      constructor(settings = {}) {
        super({ sampleRate: ownRate ?? undefined, ...settings });
        window.contexts.push(this);
      }

      // As Firefox does, which connects no microphone to a context of another rate.
      createMediaStreamSource(media) {
        if (ownRate && this.sampleRate !== ownRate) throw new DOMException("different sample-rate", "NotSupportedError");
        return super.createMediaStreamSource(media);
      }
    };
    const { mediaDevices } = navigator;
    const open = mediaDevices?.getUserMedia.bind(mediaDevices);
    if (open) {
      mediaDevices.getUserMedia = async (constraints) => {
        const media = await open(constraints);
        window.tracks.push(...media.getTracks());
        return media;
      };
    }
  }, job.rate ?? null);
  await page.goto(job.url);
  return { browser, context, page, seen };
}

const state = (page, wanted) => page.waitForSelector(`#status[data-state="${wanted}"]`);
const text = (page, selector) => page.locator(selector).innerText();

async function ready(page) {
  await state(page, "ready");
  await page.waitForSelector("#meters .word");
}

async function listening(page) {
  await ready(page);
  await page.click("#listen");
  await state(page, "listening");
}

async function shot(page, job, name) {
  if (job.shots) await page.screenshot({ path: `${job.shots}/${name}.png` });
}

const rows = (page, list) =>
  page.$$eval(`${list} li`, (items) =>
    items.map((item) => ({
      time: item.querySelector("time")?.textContent,
      keyword: item.querySelector("b")?.textContent,
      score: Number(item.querySelector(".number")?.textContent.replace("score ", "")),
    })),
  );

/** Violations of accessibility that axe-core finds, with the first place of each. */
async function violations(page) {
  const source = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(source);
  const { violations: found, passes } = await page.evaluate(() => window.axe.run());
  return { found: found.map(({ id, nodes }) => `${id}: ${nodes[0].html}: ${nodes[0].failureSummary}`), passed: passes.length };
}

const SCENARIOS = {
  async listens(job) {
    const { browser, page, seen } = await opened(job);
    await ready(page);
    await shot(page, job, "ready");
    await page.evaluate((wanted) => {
      if (!wanted) return;
      // A page that is busy four fifths of the time.
      setInterval(() => {
        const end = performance.now() + 400;
        while (performance.now() < end);
      }, 500);
    }, job.busy);
    await page.click("#listen");
    await state(page, "listening");
    const rate = await page.evaluate(() => window.contexts.at(-1).sampleRate);
    await page.waitForFunction((count) => document.querySelectorAll("#detections li").length >= count, job.detections);
    await page.waitForTimeout(job.more ?? 0);
    await shot(page, job, "listening");
    const found = await rows(page, "#detections");
    const status = await text(page, "#status");
    await page.locator("#detections button").last().click();
    await page.click("#listen");
    await state(page, "ready");
    await browser.close();
    return { ...seen, found, rate, status };
  },

  async refused(job) {
    const { browser, page, seen } = await opened(job, { permissions: [], args: ["--deny-permission-prompts"] });
    await ready(page);
    await page.click("#listen");
    await state(page, "problem");
    await shot(page, job, "refused");
    const status = await text(page, "#status");
    await browser.close();
    return { ...seen, status };
  },

  async none(job) {
    const { browser, page, seen } = await opened({ ...job, microphone: null }, { args: ["--use-fake-ui-for-media-stream"] });
    await ready(page);
    await page.click("#listen");
    await state(page, "problem");
    await shot(page, job, "none");
    const status = await text(page, "#status");
    await browser.close();
    return { ...seen, status };
  },

  async suspended(job) {
    const { browser, page, seen } = await opened(job);
    await listening(page);
    await page.evaluate(() => window.contexts[0].suspend());
    await state(page, "paused");
    await shot(page, job, "suspended");
    const status = await text(page, "#status");
    await page.click("#resume");
    await state(page, "listening");
    await page.waitForSelector("#detections li");
    await browser.close();
    return { ...seen, status };
  },

  async lost(job) {
    const { browser, page, seen } = await opened(job);
    await listening(page);
    await page.evaluate(() => window.tracks[0].dispatchEvent(new Event("ended")));
    await state(page, "problem");
    await shot(page, job, "lost");
    const status = await text(page, "#status");
    // Connected again, it listens again.
    await page.click("#listen");
    await state(page, "listening");
    await page.waitForSelector("#detections li");
    await browser.close();
    return { ...seen, status };
  },

  async scans(job) {
    const { browser, page, seen } = await opened(job);
    await ready(page);
    await page.click("#demo");
    await page.waitForFunction(() => /detection/.test(document.querySelector("#scan-status").textContent));
    const demo = { status: await text(page, "#scan-status"), found: await rows(page, "#found") };
    await shot(page, job, "scanned");
    await page.setInputFiles("#recording", job.files.recording);
    await page.waitForFunction((name) => document.querySelector("#scan-status").textContent.startsWith(`${name}, `), job.files.name);
    const file = { status: await text(page, "#scan-status"), found: await rows(page, "#found") };
    await page.setInputFiles("#recording", job.files.broken);
    await page.waitForSelector("#scan-status.problem");
    const broken = await text(page, "#scan-status");
    await browser.close();
    return { ...seen, demo, file, broken };
  },

  async models(job) {
    const { browser, page, seen } = await opened(job);
    await ready(page);
    const words = () => page.$$eval("#meters h3", (titles) => titles.map((title) => title.firstChild.textContent));
    await page.setInputFiles("#model", job.files.damaged);
    await page.waitForSelector("#model-status.problem");
    const damaged = { status: await text(page, "#model-status"), words: await words() };
    await shot(page, job, "damaged");
    // Two at once, of which one cannot be used.
    const contents = await Promise.all([job.files.model, job.files.damaged].map((file) => readFile(file, "base64")));
    await page.evaluate((files) => {
      const dataTransfer = new DataTransfer();
      for (const [name, text] of files) {
        dataTransfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
      }
      dispatchEvent(new DragEvent("drop", { dataTransfer }));
    }, [["mine.onnx", contents[0]], ["damaged.onnx", contents[1]]]);
    await page.waitForFunction(
      () => document.querySelectorAll("#meters .word").length === 2 && document.querySelector("#model-status.problem"),
    );
    await ready(page);
    const dropped = await words();
    await page.click("text=computer");
    await page.waitForFunction(() => document.querySelectorAll("#meters .word").length === 3);
    const word = page.locator(".word", { hasText: "jarvis" });
    const promised = await word.locator(".promise").innerText();
    const sensitivity = async () => parseInt((await word.locator("output").innerText()).replace("sensitivity ", ""), 10);
    const chosen = await word.locator("select option:checked").innerText();
    const before = await sensitivity();
    await word.locator("input[type=range]").focus();
    await page.keyboard.press("ArrowRight");
    const between = { promise: await word.locator(".promise").innerText(), point: await word.locator("select").inputValue() };
    await page.keyboard.press("PageUp");
    const shown = { chosen, more: (await sensitivity()) - before };
    const whole = await text(page, "body");
    await page.reload();
    await ready(page);
    const kept = await words();
    await browser.close();
    return { ...seen, damaged, dropped, promised, shown, between, kept, text: whole };
  },

  async takes(job) {
    const { browser, page, seen } = await opened(job);
    await ready(page);
    await page.fill("#take-word", "marvin");
    // A take and what listens share the microphone, and the take leaves it to what listens.
    await page.click("#take");
    await page.click("#listen");
    await state(page, "listening");
    await page.waitForFunction(() => !document.querySelector("#take").disabled);
    const shared = { state: await page.getAttribute("#status", "data-state"), opened: await page.evaluate(() => window.tracks.length) };
    await page.click("#listen");
    await state(page, "ready");
    for (let count = 0; count < 60 && (await page.isDisabled("#zip")); count++) {
      await page.click("#take");
      await page.waitForFunction(() => !document.querySelector("#take").disabled);
    }
    await shot(page, job, "takes");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#zip")]);
    await download.saveAs(job.files.zip);
    const status = await text(page, "#take-status");
    await browser.close();
    return { ...seen, shared, status, name: download.suggestedFilename() };
  },

  // A page of somebody else's, which writes what it hears to the console.
  async embedded(job) {
    const { browser, page, seen } = await opened(job);
    await page.waitForFunction(() => document.querySelector("#start")?.onclick);
    const heard = page.waitForEvent("console", (message) => message.type() === "log");
    await page.click("#start");
    const told = (await heard).text();
    await browser.close();
    return { ...seen, told };
  },

  async offline(job) {
    const { browser, context, page, seen } = await opened(job);
    await ready(page);
    await page.waitForFunction(() => /without a network/.test(document.querySelector("#network").textContent));
    // As if the files had changed since the first visit: one is new, another is gone.
    const [added, gone] = [new URL("/assets/models/seven.onnx", job.url).href, new URL("old.js", job.url).href];
    await page.evaluate(async (urls) => {
      const cache = await caches.open("wakeword-web");
      await cache.delete(urls[0]);
      await cache.put(urls[1], new Response("old"));
    }, [added, gone]);
    await page.reload();
    await ready(page);
    await page.waitForFunction(async (urls) => {
      const [isThere, isOld] = await Promise.all(urls.map((url) => caches.match(url)));
      return isThere && !isOld;
    }, [added, gone]);
    await context.setOffline(true);
    await page.reload();
    await ready(page);
    const network = await text(page, "#network");
    // A word that was never loaded before.
    await page.click("text=seven");
    await page.waitForFunction(() => document.querySelectorAll("#meters .word").length === 2);
    await page.click("#demo");
    await page.waitForFunction(() => /detection/.test(document.querySelector("#scan-status").textContent));
    const status = await text(page, "#scan-status");
    await shot(page, job, "offline");
    await browser.close();
    return { ...seen, network, status };
  },

  async accessible(job) {
    const found = [];
    let passed = 0;
    const { browser, context, page, seen } = await opened(job);
    await ready(page);
    await page.click("#demo");
    await page.waitForSelector("#found li");
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of [{ width: 1_100, height: 900 }, { width: 360, height: 740 }]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const result = await violations(page);
        found.push(...result.found.map((one) => `${colorScheme} ${viewport.width}: ${one}`));
        passed += result.passed;
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) {
          found.push(`${colorScheme} ${viewport.width}: wider than the screen`);
        }
        await shot(page, job, `${colorScheme}-${viewport.width}`);
      }
    }
    // Everything can be reached by the Tab key.
    const reached = new Set();
    await page.evaluate(() => document.activeElement.blur());
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
    }
    await context.close();
    await browser.close();
    return { ...seen, found, passed, reached: [...reached] };
  },
};

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const job = JSON.parse(Buffer.concat(chunks).toString());
process.stdout.write(JSON.stringify(await SCENARIOS[job.scenario](job)));
process.exit();
