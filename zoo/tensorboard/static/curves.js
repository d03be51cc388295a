// How a head's numbers changed in training: a line for each head of a layer; a click goes to the step.

import { headColour } from "./colours.js";
import { drawn } from "./dom.js";

const SIZE = { width: 520, height: 190, left: 46, right: 12, top: 12, bottom: 34 };

export class Curves {
  constructor(onstep) {
    this.node = drawn("svg", { role: "img", "data-view": "curves", width: SIZE.width, height: SIZE.height });
    this.node.style.cursor = "pointer";
    this.node.addEventListener("click", (event) => {
      const share = event.clientX - this.node.getBoundingClientRect().left;
      if (this.places?.length) {
        const near = this.places.reduce((best, x, i) => (Math.abs(x - share) < Math.abs(this.places[best] - share) ? i : best), 0);
        onstep(this.steps[near]);
      }
    });
  }

  /** Draws series [{head, values, strong}] over steps; steps are spaced by their logarithm, as they are written. */
  draw({ steps, series, current, name }) {
    this.steps = steps;
    const values = series.flatMap((one) => one.values.filter((value) => value != null));
    const highest = Math.max(1e-6, ...values);
    const last = Math.log1p(steps[steps.length - 1] ?? 1) || 1;
    const x = (step) => SIZE.left + (Math.log1p(step) / last) * (SIZE.width - SIZE.left - SIZE.right);
    const y = (value) => SIZE.height - SIZE.bottom - (value / highest) * (SIZE.height - SIZE.top - SIZE.bottom);
    this.places = steps.map(x);
    this.node.setAttribute("aria-label", `${name} over ${steps.length} steps, ${series.length} heads`);
    const line = ({ head, values: heights, strong }) => {
      const points = heights.map((value, i) => (value == null ? null : `${x(steps[i])},${y(value)}`)).filter(Boolean);
      const stroke = { stroke: headColour(head), "stroke-width": strong ? 2.5 : 1, "stroke-opacity": strong ? 1 : 0.45 };
      return drawn("polyline", { points: points.join(" "), fill: "none", ...stroke });
    };
    const text = (content, left, top, anchor) => drawn("text", { x: left, y: top, "text-anchor": anchor }, content);
    const bottom = SIZE.height - SIZE.bottom;
    this.node.replaceChildren(
      drawn("line", { class: "axis", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: bottom, y2: bottom }),
      drawn("line", { class: "axis", x1: SIZE.left, x2: SIZE.left, y1: SIZE.top, y2: bottom }),
      drawn("line", { x1: x(current), x2: x(current), y1: SIZE.top, y2: bottom, stroke: "var(--mark)", "stroke-dasharray": "3 3" }),
      ...series.filter((one) => !one.strong).map(line),
      ...series.filter((one) => one.strong).map(line),
      text(highest.toPrecision(2), SIZE.left - 4, SIZE.top + 8, "end"),
      text("0", SIZE.left - 4, bottom, "end"),
      text(String(steps[0] ?? 0), SIZE.left, bottom + 14, "start"),
      text(String(steps[steps.length - 1] ?? 0), SIZE.width - SIZE.right, bottom + 14, "end"),
      text("training step", (SIZE.left + SIZE.width) / 2, bottom + 28, "middle"),
    );
  }
}
