// The bar over the pictures: what is looked at, and how.

import { choice, element, slider, visible } from "./dom.js";

const HOWS = { head: "one head", mean: "mean of the layer's heads", all: "mean of all layers", rollout: "rollout up to the layer", worth: "leave-one-out (nats)" };
const SORTS = { layer: "by layer", entropy: "by entropy", sharpness: "by sharpness", distance: "by distance", aer: "by AER" };

/** Builds the bar. `shown` is {runs, tags, titles, steps, place, otherSteps, kinds, hows, windows}; `set` changes the state. */
export function controlBar(state, shown, set, play) {
  const { runs, tags, titles, steps, place, kinds } = shown;
  const bar = (...parts) => element("div", { class: "bar" }, ...parts);
  const names = (list) => list.map((name) => [name, visible(name, 60)]);
  const tabs = kinds.map((name) =>
    element(
      "button",
      { type: "button", role: "tab", "aria-selected": String(name === state.kind), "data-kind": name, onclick: () => set({ kind: name, layer: null, heads: [0], row: null }) },
      { encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "target to source" }[name] ?? name,
    ),
  );
  const first = bar(
    element("h1", {}, "Attention"),
    choice("run", names(runs), state.run, (run) => set({ run, step: null, row: null })),
    choice("sentence", tags.map((tag) => [tag, titles(tag)]), state.tag, (tag) => set({ tag, row: null, fromRow: 0, fromColumn: 0 })),
    element("span", { role: "tablist", "aria-label": "kind of attention", class: "bar" }, ...tabs),
  );
  const parts = [];
  if (steps.length > 1) {
    const training = slider("training step", 0, steps.length - 1, 1, place, play.goTo);
    training.classList.add("steps");
    parts.push(
      element("button", { type: "button", "aria-label": "play through the steps", "aria-pressed": String(play.on), onclick: play.toggle }, play.on ? "❚❚" : "▶"),
      training,
      element("output", { "data-out": "step" }, String(steps[place])),
    );
  }
  const compared = [["", "nothing"], ...runs.map((run) => [run, run === state.run ? "this run, another step" : visible(run, 60)])];
  if (runs.length > 1 || steps.length > 1) parts.push(choice("compare with", compared, state.other, (other) => set({ other, otherStep: null })));
  if (state.other) {
    const other = shown.otherSteps;
    if (state.other === state.run && other.length > 1) {
      const at = Math.max(0, other.indexOf(state.otherStep ?? other[0]));
      parts.push(slider("its step", 0, other.length - 1, 1, at, (i) => set({ otherStep: other[i] })));
    }
    parts.push(choice("as", [["side", "side by side"], ["difference", "difference"]], state.view, (view) => set({ view })));
  }
  const second = [
    choice("show", shown.hows.map((how) => [how, HOWS[how]]), state.how, (how) => set({ how })),
    choice("sort heads", Object.entries(SORTS), state.sort, (sort) => set({ sort })),
    choice("special tokens", [["show", "shown"], ["hide", "hidden, rows renormalised"]], state.special, (special) => set({ special, row: null })),
  ];
  for (const [name, key, length, room] of shown.windows) {
    if (length > room) second.push(slider(`${name} from`, 0, length - room, 1, state[key], (i) => set({ [key]: i, row: null })));
  }
  return element("div", {}, first, bar(...parts), bar(...second));
}
