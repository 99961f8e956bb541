/**
 * The errors of this package. Each message says what was expected, what came, and what to do.
 *
 *     WakewordError
 *     ├── ModelError         a model file, or a network that models share, that cannot be used
 *     ├── ConfigError        a setting out of range
 *     ├── AudioFormatError   samples or a recording that cannot be used
 *     ├── MicrophoneError    no microphone, a refused one, one in use; `reason` says which
 *     └── ClosedError        a detector that was closed
 */

export class WakewordError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class ModelError extends WakewordError {}
export class ConfigError extends WakewordError {}
export class AudioFormatError extends WakewordError {}
export class ClosedError extends WakewordError {}

export class MicrophoneError extends WakewordError {
  /**
   * @param {"none" | "refused" | "busy" | "insecure" | "failed"} reason
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(reason, message, options) {
    super(message, options);
    this.reason = reason;
  }
}

const KINDS = { WakewordError, ModelError, ConfigError, AudioFormatError, ClosedError };

/**
 * An error as a message to another thread can hold it.
 * @param {unknown} error
 * @returns {{ name: string, message: string }}
 */
export function packed(error) {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
}

/**
 * The error that `packed` packed, of its own class again.
 * @param {{ name: string, message: string }} one
 * @returns {Error}
 */
export function unpacked({ name, message }) {
  const Kind = Object.hasOwn(KINDS, name) ? KINDS[/** @type {keyof typeof KINDS} */ (name)] : Error;
  return new Kind(message);
}
