// Where the viewer's data comes from in a page of its own: a block of JSON inside it.

import { AttentionRecord } from "./decode.js";

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export class EmbeddedSource {
  /** `data` is {run: {tag: {steps: [{step, header, blocks: [base64]}], stats}}}. */
  constructor(data) {
    this.data = data;
    this.live = false;
    this.records = new Map();
  }

  async runs() {
    return Object.fromEntries(Object.entries(this.data).map(([run, tags]) => [run, Object.keys(tags).sort()]));
  }

  async steps(run, tag) {
    return this.data[run][tag].steps.map(({ step }) => step);
  }

  async record(run, tag, step) {
    const found = this.data[run][tag].steps.find((one) => one.step === step);
    if (!this.records.has(found)) {
      this.records.set(found, new AttentionRecord(found.header, async (i) => bytesOf(found.blocks[i])));
    }
    return this.records.get(found);
  }

  async stats(run, tag) {
    return this.data[run][tag].stats;
  }
}
