/** The page: words, microphone, scores, detections. */

import { Listening, ROOT } from "./listening.js";
import { Meter } from "./meters.js";
import { byId, element, say, told } from "./page.js";
import { Recording } from "./recording.js";
import { Rows } from "./rows.js";
import { Scanning } from "./scanning.js";
import { Spectrogram } from "./spectrogram.js";

/** @typedef {import("./listening.js").Chosen} Chosen */

const DEFAULT = "jarvis";
const CHOICE = "wakeword.words";

/** All words on offer: name -> model. @type {Map<string, Chosen>} */
const offered = new Map();
/** @type {Map<string, Meter>} */
const meters = new Map();
/** Thresholds that the user has set. @type {Map<string, number>} */
const thresholds = new Map();

const listening = new Listening();
const spectrogram = new Spectrogram(/** @type {HTMLCanvasElement} */ (byId("spectrogram")));
const heard = new Rows(byId("detections"), (playing) => {
  // What is played back must not wake it again.
  listening.detector?.suppress(playing).catch(() => {});
});
const verify = /** @type {HTMLInputElement} */ (byId("verify"));

/** The box of a word. @param {string} name */
function boxOf(name) {
  return [...byId("words").querySelectorAll("input")].find((box) => box.value === name);
}

/** @returns {string[]} */
function checkedWords() {
  return [...byId("words").querySelectorAll("input")].filter((box) => box.checked).map((box) => box.value);
}

const chosenModels = () => checkedWords().map((name) => /** @type {Chosen} */ (offered.get(name)));

/** Whether the words that are checked are in use; `null` if others were checked meanwhile. */
async function load() {
  const isInUse = await listening.choose(chosenModels(), verify.checked);
  if (!isInUse) return isInUse;
  const { detector } = listening;
  meters.clear();
  const shown = (detector?.words ?? []).map((word) => {
    const known = thresholds.get(word.keyword);
    const meter = new Meter(known === undefined ? word : { ...word, threshold: known }, (threshold) => {
      thresholds.set(word.keyword, threshold);
      detector?.setThreshold(word.keyword, threshold).catch((error) => say("status", told(error), true));
    });
    if (known !== undefined) detector?.setThreshold(word.keyword, known).catch(() => {});
    meters.set(word.keyword, meter);
    return meter.element;
  });
  byId("meters").replaceChildren(...shown);
  return true;
}

/** @param {string} name @param {Chosen} model @param {boolean} isChosen */
function offer(name, model, isChosen) {
  const before = boxOf(name);
  offered.set(name, model);
  if (before) {
    before.checked ||= isChosen;
    return;
  }
  const box = element("input", { type: "checkbox", value: name });
  box.checked = isChosen;
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(CHOICE, JSON.stringify(checkedWords()));
    } catch {
      // Without storage the choice is not remembered.
    }
    load();
  });
  byId("words").append(element("label", {}, box, name));
}

async function offerShipped() {
  const response = await fetch(new URL("web/files.json", ROOT));
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  /** @type {string[]} */
  const files = await response.json();
  let kept;
  try {
    kept = JSON.parse(localStorage.getItem(CHOICE) ?? "null");
  } catch {
    kept = null;
  }
  const chosen = Array.isArray(kept) ? kept : [DEFAULT];
  for (const path of files.filter((file) => file.startsWith("assets/models/"))) {
    const name = path.slice("assets/models/".length, -".onnx".length);
    offer(name, new URL(path, ROOT).href, chosen.includes(name));
  }
}

/** @param {File} file */
async function useModel(file) {
  say("model-status", `Loading ${file.name}…`);
  const name = file.name.replace(/\.onnx$/, "");
  const before = offered.get(name);
  const wasChecked = checkedWords().includes(name);
  offer(name, file, true);
  const isInUse = await load();
  if (isInUse !== false) {
    say("model-status", isInUse ? `${file.name} is in use.` : "");
    return;
  }
  say("model-status", byId("status").textContent ?? "", true);
  byId("model-status").scrollIntoView({ block: "nearest" });
  // Back to what worked.
  const box = boxOf(name);
  if (before) {
    offered.set(name, before);
    if (box) box.checked = wasChecked;
  } else {
    offered.delete(name);
    box?.parentElement?.remove();
  }
  await load();
}

/** The models that were dropped, until all are in use or refused. */
let adding = Promise.resolve();

const scanning = new Scanning(() => ({
  models: chosenModels(),
  verify: verify.checked,
  thresholds: Object.fromEntries((listening.detector?.words ?? []).map(({ keyword, threshold }) => [keyword, threshold])),
}));

/** @param {Iterable<File>} files */
function take(files) {
  for (const file of files) {
    const isModel = file.name.endsWith(".onnx");
    // What comes of it is told there.
    byId(isModel ? "model-status" : "scan-status").closest("section")?.scrollIntoView({ block: "nearest" });
    // One after the other: each is tried with what is in use then.
    if (isModel) adding = adding.then(() => useModel(file));
    else scanning.scan(file, file.name);
  }
}

function showState(/** @type {string} */ message) {
  const status = byId("status");
  status.textContent = message;
  status.classList.remove("problem");
  status.dataset.state = listening.state;
  const button = /** @type {HTMLButtonElement} */ (byId("listen"));
  const isOn = listening.isOn;
  button.textContent = isOn ? "Stop" : "Listen";
  button.disabled = listening.state === "loading" || !listening.detector;
  byId("resume").hidden = listening.state !== "paused";
}

listening.addEventListener("state", (event) => showState(/** @type {CustomEvent} */ (event).detail));
listening.addEventListener("heard", (event) => {
  const { detail } = /** @type {CustomEvent<import("../src/index.js").Heard>} */ (event);
  spectrogram.push(detail);
  for (const { keyword, score } of detail.scores) meters.get(keyword)?.show(score);
});
listening.addEventListener("detection", (event) => {
  const { detail } = /** @type {CustomEvent<import("../src/index.js").Detection>} */ (event);
  const time = new Date().toLocaleTimeString();
  byId("nothing").hidden = true;
  heard.add(detail, time);
  spectrogram.mark();
  byId("announced").replaceChildren(element("p", {}, `${detail.keyword}, ${time}`));
});
listening.addEventListener("lost", () => {
  say("status", "This device is too slow for so many words: some audio was not looked at. Choose fewer.", true);
});

byId("listen").addEventListener("click", () => {
  if (listening.isOn) listening.stop();
  else {
    spectrogram.clear();
    listening.start();
  }
});
byId("resume").addEventListener("click", () => listening.resume());
verify.addEventListener("change", () => {
  // The thresholds of one stage mean nothing for the other.
  thresholds.clear();
  load();
});
byId("demo").addEventListener("click", () => {
  scanning.scan(new URL("assets/audio/sentences.flac", ROOT), "sentences.flac");
});
for (const id of ["recording", "model"]) {
  const input = /** @type {HTMLInputElement} */ (byId(id));
  input.addEventListener("change", () => {
    take(input.files ?? []);
    input.value = "";
  });
}

for (const type of ["dragover", "dragleave", "drop"]) {
  addEventListener(type, (event) => {
    const { dataTransfer } = /** @type {DragEvent} */ (event);
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    byId("drop").hidden = type !== "dragover";
    if (type === "drop") take(dataTransfer.files);
  });
}

function showNetwork() {
  const kept = navigator.serviceWorker?.controller ? "Works without a network from now on." : "";
  say("network", navigator.onLine ? kept : "Offline: everything here works from this device.");
}
for (const type of ["online", "offline"]) addEventListener(type, showNetwork);

new Recording(listening);
showNetwork();
try {
  await offerShipped();
  await load();
} catch (error) {
  say("status", `The list of words could not be loaded: ${told(error)}`, true);
}
// After all that the page itself needs has come.
try {
  await navigator.serviceWorker?.register(new URL("web/sw.js", ROOT));
  await navigator.serviceWorker?.ready;
  navigator.serviceWorker?.addEventListener("controllerchange", showNetwork);
  showNetwork();
} catch {
  // Without it, as in some private windows, the page works while there is a network.
}
