/** Small helpers of the page. */

/**
 * The element of an id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`expected an element #${id}`);
  return /** @type {T} */ (found);
}

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** What to tell of an error. @param {unknown} error @returns {string} */
export function told(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Show a message. @param {string} id @param {string} text @param {boolean} [isProblem] */
export function say(id, text, isProblem = false) {
  const line = byId(id);
  line.textContent = text;
  line.classList.toggle("problem", isProblem);
}
