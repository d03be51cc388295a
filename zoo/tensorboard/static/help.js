// What is shown where there is nothing to show yet, or where something is wrong.

import { element } from "./dom.js";

const CODE = `import zoo
look = zoo.tensorboard.AttentionCallback(corpus.dev[:4], "runs/mine", text=text)
model.fit(..., callbacks=[look])`;

/** The first screen of somebody whose runs have no attention in them. */
export function emptyScreen() {
  return element(
    "div",
    { class: "empty" },
    element("h2", {}, "No attention has been written to this folder yet"),
    element("p", {}, "This tab shows where a model looks while it trains: which word each word attends to, head by head, step by step. Write it from your training with three lines:"),
    element("pre", {}, CODE),
    element("p", { class: "soft" }, "It works with every model of the zoo and with any Keras model made of Keras's or KerasHub's attention layers. The first maps appear with the first step; this page looks again every few seconds."),
  );
}

/** A box that says what is wrong, in place of the pictures. */
export function errorBox(error) {
  return element("div", { class: "error", role: "alert" }, element("h2", {}, "This attention cannot be shown"), element("p", {}, String(error.message ?? error)));
}

/** What rows and columns mean, for a kind of attention. */
export function meaning(kind) {
  if (kind.startsWith("cross")) return "Row: the target token that is predicted. Column: the source token it looks at.";
  if (kind.startsWith("decoder")) return "Row: a token that the decoder has read. Column: the tokens up to it that it looks at.";
  return "Row: a token of the source. Column: the tokens of the source that it looks at.";
}

export const LEGEND = "A stronger colour is more weight; a row sums to 1 over the tokens that may be seen. ";
export const SIGNED_LEGEND = "Blue is more than the other has, orange less. ";
export const WORTH_LEGEND = "Blue: the target token loses that much log-probability without the source token; orange: it gains. ";
export const CAUTION = "attention is no attribution by itself";
