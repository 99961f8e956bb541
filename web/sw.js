/**
 * Lets the page work without a network after its first visit: keeps the files that `files.json` lists, and serves each from
 * the network while there is one, so that a new version is seen at once.
 *
 * It lies in this folder and not in `demo/` because a worker is served by what governs its own script, `src/worker.js`.
 */

const CACHE = "wakeword-web";
/** The root of a checkout, or of `wakeword web`. */
const ROOT = new URL("../", self.location.href);
const LIST = new URL("files.json", self.location.href);
/** Seconds for a server to answer before the kept file is used. */
const PATIENCE = 5;

self.addEventListener("install", (event) => {
  event.waitUntil(install());
});

self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(ROOT.href)) event.respondWith(answer(request, event));
});

async function install() {
  const list = await whole(await fetch(LIST, { cache: "no-cache" }));
  await keepAll(list.clone());
  await (await caches.open(CACHE)).put(LIST, list);
  await self.skipWaiting();
}

/** Keep the newest of all that a list names, and nothing that it no longer names. */
async function keepAll(list) {
  const cache = await caches.open(CACHE);
  const listed = (await list.json()).map((path) => new URL(path, ROOT).href);
  for (const { url } of await cache.keys()) {
    if (url !== LIST.href && !listed.includes(url)) await cache.delete(url);
  }
  // One by one: a phone need not hold them all in memory.
  for (const url of listed) {
    // Asks whether the browser's own copy is still right: what the page has just loaded is not loaded again.
    const fresh = await whole(await fetch(url, { cache: "no-cache" }));
    const kept = await cache.match(url);
    if (kept && markOf(fresh) && markOf(fresh) === markOf(kept)) await fresh.body?.cancel();
    else await cache.put(url, fresh);
  }
}

/** What a server says that differs between two versions of a file. */
function markOf({ headers }) {
  return headers.get("ETag") ?? headers.get("Last-Modified");
}

/** A page's folder stands for its index. */
function keyOf(url) {
  const key = new URL(url);
  key.search = key.hash = "";
  if (key.pathname.endsWith("/")) key.pathname += "index.html";
  return key;
}

async function answer(request, event) {
  const cache = await caches.open(CACHE);
  const key = keyOf(request.url);
  const kept = await cache.match(key);
  if (!kept) return fetch(request);
  try {
    const fresh = await fetch(key, { cache: "no-cache", signal: AbortSignal.timeout(1_000 * PATIENCE) });
    if (!fresh.ok) return kept;
    const answered = fresh.clone();
    // A new version can have other files. What cannot be had now is asked for at the next visit.
    if (key.href === LIST.href) event.waitUntil(keepAll(fresh.clone()).catch(() => {}));
    await cache.put(key, fresh);
    return answered;
  } catch {
    return kept;
  }
}

async function whole(response) {
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  return response;
}
