/** Wake words in the browser, with the scores of the Python package `wakeword`. */

export { Detector } from "./detector.js";
export {
  AudioFormatError,
  ClosedError,
  ConfigError,
  MicrophoneError,
  ModelError,
  WakewordError,
} from "./errors.js";
export { Microphone } from "./microphone.js";
export { FileSource } from "./sources.js";
export { writeWav } from "./wav.js";

/** @typedef {import("./stream.js").Detection} Detection */
/** @typedef {import("./stream.js").Heard} Heard */
/** @typedef {import("./card.js").Card} Card */
/** @typedef {import("./card.js").OperatingPoint} OperatingPoint */
/** @typedef {import("./detector.js").DetectorOptions} DetectorOptions */
