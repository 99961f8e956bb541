/** The tap: copies the microphone's audio to a port, and nothing else, so that the audio thread never waits. */

/** Samples in one message: 80 ms at 16 kHz, 27 ms at 48 kHz. */
const BLOCK = 1_280;

class Tap extends AudioWorkletProcessor {
  constructor() {
    super();
    /** @type {MessagePort | null} */
    this._port = null;
    this._block = new Float32Array(BLOCK);
    this._filled = 0;
    this._open = true;
    this.port.onmessage = ({ data }) => {
      if (data === "close") this._open = false;
      else this._port = data;
    };
  }

  /** @param {Float32Array[][]} inputs */
  process([channels]) {
    const samples = channels[0];
    if (!samples || !this._port) return this._open;
    for (let n = 0; n < samples.length; n++) {
      let sum = 0;
      for (const channel of channels) sum += channel[n];
      this._block[this._filled++] = sum / channels.length;
      if (this._filled === BLOCK) {
        this._port.postMessage(this._block, [this._block.buffer]);
        this._block = new Float32Array(BLOCK);
        this._filled = 0;
      }
    }
    return this._open;
  }
}

registerProcessor("wakeword-tap", Tap);
