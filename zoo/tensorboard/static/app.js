// The viewer: keeps the state, fetches what it asks for, and draws.

import { controlBar } from "./controls.js";
import { element, visible } from "./dom.js";
import { emptyScreen, errorBox } from "./help.js";
import { bestHead, nearest } from "./numbers.js";
import { Panels } from "./panels.js";
import { STYLE } from "./style.js";

const REFRESH = 15000; // milliseconds between two looks for new steps
const PLAY = 350; // between two steps

export class Viewer {
  constructor(body, source, permalink) {
    Object.assign(this, { source, permalink });
    this.state = permalink.read();
    this.turn = 0;
    this.bar = element("div");
    this.panels = new Panels((changes) => this.set(changes));
    this.main = element("main", { class: "zoo", "data-state": "loading" }, this.bar, this.panels.node);
    document.head.append(element("style", {}, STYLE));
    body.replaceChildren(this.main);
    window.addEventListener("themechange", () => this.refresh(true));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  async start() {
    await this.refresh();
    if (this.source.live) setInterval(() => !document.hidden && !this.playing && this.refresh(), REFRESH);
  }

  set(changes) {
    this.state = { ...this.state, ...changes };
    this.permalink.write(this.state);
    return this.refresh(true);
  }

  key(event) {
    if (["INPUT", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ",": -1, ".": 1, "[": "less", "]": "more", " ": "play" };
    const move = moves[event.key];
    if (move === undefined || !this.shown) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (move === "play") this.togglePlay();
    else if (typeof move === "number") this.stepBy(move);
    else this.headBy(move === "more" ? 1 : -1);
  }

  /** The place of the step that is asked for, which may still be on its way. */
  place() {
    const { steps } = this.shown;
    return this.state.step == null ? steps.length - 1 : steps.indexOf(this.state.step);
  }

  /** Goes to the step at a place; the last one stays the latest as others come. */
  goTo(place) {
    const { steps } = this.shown;
    return this.set({ step: place >= steps.length - 1 ? null : steps[Math.max(place, 0)] });
  }

  stepBy(count) {
    return this.goTo(this.place() + count);
  }

  headBy(count) {
    const [layers, heads] = this.shown.kind.shape;
    const at = (this.state.layer * heads + this.state.heads[0] + count + layers * heads) % (layers * heads);
    this.set({ layer: Math.floor(at / heads), heads: [at % heads] });
  }

  togglePlay() {
    clearInterval(this.playing);
    this.playing = this.playing ? null : setInterval(() => this.playOn(), PLAY);
    if (this.playing && this.state.step == null) this.set({ step: this.shown.steps[0] });
    else this.refresh(true);
  }

  async playOn() {
    if (this.drawing) return; // the last step is still on its way
    await this.stepBy(1);
    if (this.state.step == null) this.togglePlay();
  }

  /** Fetches what the state asks for and draws it; `known` where only the state has changed. */
  async refresh(known = false) {
    const turn = ++this.turn;
    this.drawing = true;
    this.main.dataset.state = "loading";
    try {
      if (!known || !this.runs) this.runs = await this.source.runs();
      if (!Object.keys(this.runs).length) {
        this.panels.node.replaceChildren(emptyScreen());
        this.bar.replaceChildren(element("h1", {}, "Attention"));
      } else {
        const shown = await this.fetch(turn);
        if (!shown) return;
        this.shown = shown;
        this.drawBar();
        this.panels.draw(this.state, shown);
        this.prefetch();
      }
      this.main.dataset.state = "ready";
    } catch (error) {
      if (turn !== this.turn) return;
      this.panels.node.replaceChildren(errorBox(error));
      if (this.shown) this.drawBar();
      this.main.dataset.state = "error";
    } finally {
      if (turn === this.turn) this.drawing = false;
    }
  }

  /** Everything that is drawn, or null where a newer change has come meanwhile. */
  async fetch(turn) {
    const { runs, source, state } = this;
    const names = Object.keys(runs).sort();
    if (!names.includes(state.run)) state.run = names[0];
    if (state.other && !names.includes(state.other)) state.other = "";
    const tags = runs[state.run];
    if (!tags.includes(state.tag)) state.tag = tags[0];
    const [steps, stats] = await Promise.all([source.steps(state.run, state.tag), source.stats(state.run, state.tag)]);
    if (turn !== this.turn) return null;
    if (state.step != null && !steps.includes(state.step)) state.step = steps[nearest(steps, state.step)];
    const step = state.step ?? steps[steps.length - 1];
    const record = await source.record(state.run, state.tag, step);
    const kinds = record.header.kinds.map(({ name }) => name);
    if (!kinds.includes(state.kind)) state.kind = kinds.includes("cross") ? "cross" : kinds[kinds.length - 1];
    const kind = await record.kind(state.kind);
    const [layers, heads] = kind.shape;
    if (!(state.layer !== null && state.layer >= 0 && state.layer < layers)) {
      const best = bestHead(stats, kind, step);
      Object.assign(state, { layer: best?.layer ?? layers - 1, heads: [best?.head ?? 0] });
    }
    state.heads = state.heads.filter((head) => head < heads);
    if (!state.heads.length) state.heads = [0];
    const hows = ["head", "mean", "all"];
    if (kind.rows === kind.columns) hows.push("rollout");
    if (kind.worth) hows.push("worth");
    if (!hows.includes(state.how)) state.how = "head";
    const [vectors, other] = await Promise.all([record.vectors(state.kind), this.fetchOther(step)]);
    return turn === this.turn ? { names, tags, steps, step, stats, record, kinds, kind, hows, vectors, other } : null;
  }

  /** The same kind of attention at the other run or step: {kind, step, steps, run}, or {problem}, or null. */
  async fetchOther(step) {
    if (!this.state.other) return null;
    try {
      return await this.fetchCompared(step);
    } catch (error) {
      return { problem: `Nothing to compare with: ${error.message}`, steps: [] };
    }
  }

  async fetchCompared(step) {
    const { runs, source, state } = this;
    if (!runs[state.other].includes(state.tag)) throw new Error(`the run ${visible(state.other)} has no ${visible(state.tag)}`);
    const steps = await source.steps(state.other, state.tag);
    const same = state.other === state.run;
    const other = steps[nearest(steps, state.otherStep ?? (same ? steps[0] : step))];
    const record = await source.record(state.other, state.tag, other);
    return { kind: await record.kind(state.kind), step: other, steps, run: state.other };
  }

  drawBar() {
    const { shown, state } = this;
    const focused = this.bar.contains(document.activeElement) ? document.activeElement : null;
    if (focused?.type === "range") {
      // It is being moved: a new one would slip from under the hand.
      const out = this.bar.querySelector("[data-out=step]");
      if (out) out.textContent = String(shown.step);
      return;
    }
    const room = this.panels.room;
    const bar = controlBar(
      state,
      {
        runs: shown.names,
        tags: shown.tags,
        titles: (tag) => (tag === state.tag ? visible(shown.record.header.title, 60) : tag.replace("attention/", "sentence ")),
        steps: shown.steps,
        place: this.place(),
        otherSteps: shown.other?.steps ?? [],
        kinds: shown.kinds,
        hows: shown.hows,
        windows: [
          ["rows", "fromRow", shown.kind.shape[2], room],
          ["columns", "fromColumn", shown.kind.shape[3], room],
        ],
      },
      (changes) => this.set(changes),
      { on: Boolean(this.playing), toggle: () => this.togglePlay(), goTo: (place) => this.goTo(place) },
    );
    const name = focused?.getAttribute("aria-label") ?? focused?.textContent;
    this.bar.replaceChildren(bar);
    if (name) {
      const again = [...bar.querySelectorAll("select, button, input")];
      again.find((node) => (node.getAttribute("aria-label") ?? node.textContent) === name)?.focus();
    }
  }

  /** Fetches the neighbouring steps, so that moving to them takes no waiting. */
  async prefetch() {
    const { shown, state, source } = this;
    const at = shown.steps.indexOf(shown.step);
    for (const step of [shown.steps[at + 1], shown.steps[at - 1]]) {
      if (step === undefined) continue;
      try {
        await (await source.record(state.run, state.tag, step)).kind(state.kind);
      } catch {
        return; // it says so when it is looked at
      }
    }
  }
}

