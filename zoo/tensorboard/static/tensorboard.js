// Where the viewer's data comes from inside TensorBoard: the plugin's own routes.

import { AttentionRecord } from "./decode.js";

async function ask(path, parameters, how) {
  const url = new URL(path, new URL(".", import.meta.url));
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(await answer.text());
  return answer[how]();
}

export class TensorBoardSource {
  constructor() {
    this.found = new Map();
    this.live = true;
  }

  /** {run: [tags of sentences]}; forgets what may have grown. */
  async runs() {
    for (const key of [...this.found.keys()]) if (!key.startsWith("record")) this.found.delete(key);
    return ask("runs", {}, "json");
  }

  /** The steps of a sentence, rising. */
  async steps(run, tag) {
    return (await this.listed(run, tag)).map(({ step }) => step);
  }

  async record(run, tag, step) {
    const { keys } = (await this.listed(run, tag)).find((one) => one.step === step);
    return this.once(`record ${keys[0]}`, async () => {
      const header = await ask("header", { key: keys[0] }, "json");
      return new AttentionRecord(header, (i) => ask("block", { key: keys[i + 1] }, "arrayBuffer"));
    });
  }

  /** {kinds, metrics, steps, values} of a sentence. */
  stats(run, tag) {
    return this.once(`stats ${run} ${tag}`, () => ask("stats", { run, tag }, "json"));
  }

  listed(run, tag) {
    return this.once(`steps ${run} ${tag}`, async () => (await ask("steps", { run, tag }, "json")).steps);
  }

  once(key, ask) {
    if (!this.found.has(key)) {
      if (this.found.size > 400) this.found.clear();
      this.found.set(key, ask().catch((error) => { this.found.delete(key); throw error; }));
    }
    return this.found.get(key);
  }
}
