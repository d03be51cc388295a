// What is looked at, and its form in the page's address, so that a link shows the same.

const DEFAULTS = {
  run: "",
  tag: "",
  step: null, // null = the latest
  kind: "",
  layer: null, // null = that of the head nearest to the gold alignment, or the last
  heads: [0], // one head, or several for the lines
  how: "head", // head, mean, all, rollout, worth
  other: "", // the run to compare with
  otherStep: null,
  view: "side", // side, difference
  special: "show", // show, hide
  sort: "layer",
  threshold: 0.1,
  metric: "entropy",
  row: null, // the row whose lines and neurons stay
  fromRow: 0,
  fromColumn: 0,
};

const NUMBERS = new Set(["step", "layer", "otherStep", "threshold", "row", "fromRow", "fromColumn"]);

/** The state as text: only what is not as it is at first. */
function toText(state) {
  const parameters = new URLSearchParams();
  for (const [name, first] of Object.entries(DEFAULTS)) {
    const [now, before] = [String(state[name] ?? ""), String(first ?? "")];
    if (now !== before) parameters.set(name, now);
  }
  return parameters.toString();
}

/** The state of a text; what it does not know is left out. */
function fromText(text) {
  const state = { ...DEFAULTS };
  for (const [name, value] of new URLSearchParams(text)) {
    if (!Object.hasOwn(DEFAULTS, name)) continue;
    if (name === "heads") state.heads = value.split(",").map(Number).filter((head) => Number.isInteger(head) && head >= 0);
    else if (NUMBERS.has(name) && value) {
      const fits = name === "threshold" ? Number.isFinite(Number(value)) : Number.isInteger(Number(value));
      if (fits) state[name] = Number(value);
    }
    else state[name] = value;
  }
  if (!state.heads.length) state.heads = [0];
  return state;
}

const MARK = "p.attention.view=";

/** Reads and writes the state in a window's address, beside what others keep there. */
export class Permalink {
  constructor(view) {
    this.window = view;
  }

  read() {
    const part = this.window.location.hash.split("&").find((one) => one.replace(/^#/, "").startsWith(MARK));
    try {
      return fromText(part ? decodeURIComponent(part.slice(part.indexOf(MARK) + MARK.length)) : "");
    } catch {
      return fromText(""); // a link that was cut
    }
  }

  write(state) {
    const parts = this.window.location.hash.replace(/^#/, "").split("&");
    const others = parts.filter((one) => one && !one.startsWith(MARK));
    const hash = [...others, MARK + encodeURIComponent(toText(state))].join("&");
    try {
      this.window.history.replaceState(this.window.history.state, "", `#${hash}`);
    } catch {
      // A page inside a notebook has no address of its own.
    }
  }
}
